"""I7: no secret stands where others read, in any of the spellings in which secrets usually get there."""

import base64
import gzip
import json
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from urllib.parse import quote

from tests.faults.checker.findings import Finding

_CHUNK = 2**20
_GZIP, _ZLIB = b"\x1f\x8b", (b"\x78\x01", b"\x78\x5e", b"\x78\x9c", b"\x78\xda")


def canaries(secrets: Iterable[str], places: Iterable[Path]) -> list[Finding]:
    """Where one of them stands: `places` are files, or folders with files at any depth.

    Each is looked for as it is, in hexadecimal, in base64 at any offset, quoted as in an address or as in JSON, in UTF-16,
    and in files that are compressed as a whole. The finding shows only the first characters.
    """
    wanted = {secret: spellings(secret) for secret in secrets}
    if short := [secret for secret in wanted if len(secret) < 12]:
        raise ValueError(f"{len(short)} of the secrets are so short that they could stand anywhere by chance")
    return [
        Finding("I7", f"{path} holds the secret {secret[:6]}..., {how}")
        for path in _files(places)
        for secret, how in _in(path, wanted)
    ]


def spellings(secret: str) -> dict[str, bytes]:
    """One secret as bytes, by the name of each spelling."""
    raw = secret.encode()
    found = {"as it is": raw, "in hexadecimal": raw.hex().encode(), "in UTF-16": secret.encode("utf-16-le")}
    found["quoted as in an address"] = quote(secret, safe="").encode()
    found["quoted as in JSON"] = json.dumps(secret)[1:-1].encode()
    for offset in range(3):
        # What is certain of it, whatever stands before and after: the characters made of its bytes alone.
        text = base64.b64encode(b"\0" * offset + raw)
        first, last = (0, 2, 3)[offset], len(text) - (0, 3, 2)[(len(raw) + offset) % 3]
        found[f"in base64, offset {offset}"] = text[first:last]
        found[f"in base64 for addresses, offset {offset}"] = text[first:last].replace(b"+", b"-").replace(b"/", b"_")
    return found


def _files(places: Iterable[Path]) -> Iterator[Path]:
    for place in places:
        if place.is_dir():
            yield from (path for path in sorted(place.rglob("*")) if path.is_file() and not path.is_symlink())
        else:
            yield place


def _in(path: Path, wanted: dict[str, dict[str, bytes]]) -> Iterator[tuple[str, str]]:
    seen: set[str] = set()
    for content in _contents(path, max(len(one) for spelled in wanted.values() for one in spelled.values())):
        for secret, spelled in wanted.items():
            for how, text in spelled.items():
                if secret not in seen and text in content:
                    seen.add(secret)
                    yield secret, how


def _contents(path: Path, overlap: int) -> Iterator[bytes]:
    """The bytes of a file piece by piece, overlapping, and unpacked where the whole file is packed."""
    tail = b""
    with path.open("rb") as file:
        while piece := file.read(_CHUNK):
            yield tail + piece
            tail = (tail + piece)[-overlap:]
    yield from _unpacked(path)


def _unpacked(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        begin = file.read(2)
        if begin != _GZIP and begin not in _ZLIB:
            return
        file.seek(0)
        try:
            yield gzip.decompress(file.read()) if begin == _GZIP else zlib.decompress(file.read())
        except (OSError, EOFError, zlib.error):  # it only looked like one
            return
