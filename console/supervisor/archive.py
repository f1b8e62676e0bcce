"""The archive of a backup: a plain tar whose last members are a manifest with the digest of every other, and its own digest.

It is read without trust: every name, kind, size and digest is checked in a first pass, and nothing is written before.
"""

import hashlib
import io
import json
import os
import re
import tarfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from console.embedded.faults import Fault

FORMAT = 1
DATABASE = "database.dump"
SECRET = "secrets/secret_key"  # noqa: S105 - a name, not a secret
SEAL_KEY = "seal/key"  # signs the checkpoints of the journal
_MANIFEST, _SEAL = "manifest.json", "manifest.sha256"
_LARGEST_MANIFEST = 256 * 2**20
_PART = r"[A-Za-z0-9_-][A-Za-z0-9._-]{0,199}"
_ALLOWED = re.compile(rf"(?:{re.escape(DATABASE)}|{re.escape(SECRET)}|{re.escape(SEAL_KEY)}|blobs(?:/{_PART}){{1,8}})")
_PIECE = 1024 * 1024


def write(path: Path, files: Iterable[tuple[str, Path]], facts: dict[str, Any]) -> int:
    """Write the archive aside and put it in place whole. Returns its size. Never replaces a file."""
    partial = path.with_name(f".{path.name}.{os.getpid()}.partial")
    try:
        with os.fdopen(os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as raw:
            with tarfile.open(fileobj=raw, mode="w", format=tarfile.PAX_FORMAT) as archive:
                members = [_add(archive, name, source) for name, source in files]
                text = json.dumps({"format": FORMAT, **facts, "members": members}, indent=1).encode()
                _add_text(archive, _MANIFEST, text)
                _add_text(archive, _SEAL, hashlib.sha256(text).hexdigest().encode())
            raw.flush()
            os.fsync(raw.fileno())
        try:
            os.link(partial, path)
        except FileExistsError as error:
            raise Fault(f"{path} exists: give another name.") from error
        return path.stat().st_size
    finally:
        partial.unlink(missing_ok=True)


def _add(archive: tarfile.TarFile, name: str, source: Path) -> dict[str, Any]:
    if not _ALLOWED.fullmatch(name):
        raise Fault(f"{source} has a name that a backup cannot hold.")
    with source.open("rb") as file:
        info = tarfile.TarInfo(name)
        info.size = os.fstat(file.fileno()).st_size
        info.mode = 0o600
        reader = _Digesting(file)
        archive.addfile(info, reader)
    return {"name": name, "size": info.size, "sha256": reader.digest.hexdigest()}


def _add_text(archive: tarfile.TarFile, name: str, text: bytes) -> None:
    info = tarfile.TarInfo(name)
    info.size, info.mode = len(text), 0o600
    archive.addfile(info, io.BytesIO(text))


class _Digesting:
    """A file that is digested as it is read, so that the digest is of what went into the archive."""

    def __init__(self, file: IO[bytes]) -> None:
        self.file = file
        self.digest = hashlib.sha256()

    def read(self, size: int = -1) -> bytes:
        piece = self.file.read(size)
        self.digest.update(piece)
        return piece


@contextmanager
def _opened(path: Path) -> Iterator[tarfile.TarFile]:
    try:
        with tarfile.open(path, mode="r:") as archive:
            yield archive
    except (tarfile.TarError, EOFError) as error:
        raise Fault(f"{path} is damaged or not a backup: {error}.") from error


def verify(path: Path) -> dict[str, Any]:
    """Check the whole archive and return its manifest. Raises Fault naming the member that is damaged or does not belong."""
    seen: dict[str, tuple[int, str]] = {}
    texts: dict[str, bytes] = {}
    with _opened(path) as archive:
        for info in archive:
            _check_member(path, info, seen.keys() | texts.keys())
            file = archive.extractfile(info)
            if file is None:
                raise Fault(f"{path}: {info.name} is not a plain file.")
            if info.name in (_MANIFEST, _SEAL):
                texts[info.name] = file.read()
                continue
            digest = hashlib.sha256()
            while piece := file.read(_PIECE):
                digest.update(piece)
            seen[info.name] = (info.size, digest.hexdigest())
    return _compare(path, seen, texts)


def _check_member(path: Path, info: tarfile.TarInfo, before: set[str]) -> None:
    name = info.name
    inner = name in (_MANIFEST, _SEAL)
    if not (inner or _ALLOWED.fullmatch(name)) or not info.isreg() or info.sparse is not None:
        raise Fault(f"{path}: {name[:200]!r} does not belong in a backup.")
    if name in before:
        raise Fault(f"{path}: {name} is there twice.")
    if inner and info.size > _LARGEST_MANIFEST:
        raise Fault(f"{path}: {name} is too large.")


def _compare(path: Path, seen: dict[str, tuple[int, str]], texts: dict[str, bytes]) -> dict[str, Any]:
    if set(texts) != {_MANIFEST, _SEAL}:
        raise Fault(f"{path} is damaged: its manifest is missing, so it was cut short or is not a backup.")
    if hashlib.sha256(texts[_MANIFEST]).hexdigest().encode() != texts[_SEAL]:
        raise Fault(f"{path} is damaged: {_MANIFEST} does not match its digest.")
    manifest: dict[str, Any] = json.loads(texts[_MANIFEST])
    if manifest["format"] != FORMAT:
        raise Fault(f"{path} has format {manifest['format']} and this Pilothouse reads format {FORMAT}.")
    listed = {one["name"]: (one["size"], one["sha256"]) for one in manifest["members"]}
    for name in sorted(listed.keys() | seen.keys()):
        if name not in seen:
            raise Fault(f"{path} is damaged: {name} is missing.")
        if name not in listed:
            raise Fault(f"{path} is damaged: {name} is not in its manifest.")
        if listed[name] != seen[name]:
            raise Fault(f"{path} is damaged: {name} does not match its digest.")
    if DATABASE not in seen:
        raise Fault(f"{path} is damaged: {DATABASE} is missing.")
    return manifest


def unpack(path: Path, folder: Path) -> None:
    """Write the members of a verified archive below a folder, each as a new private file; links are never followed."""
    with _opened(path) as archive:
        for info in archive:
            if info.name in (_MANIFEST, _SEAL):
                continue
            _check_member(path, info, set())
            file = archive.extractfile(info)
            target = folder / info.name
            target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            handle = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
            with os.fdopen(handle, "wb") as out:
                while file is not None and (piece := file.read(_PIECE)):
                    out.write(piece)
