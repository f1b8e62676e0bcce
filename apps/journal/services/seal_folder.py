"""What sealing keeps outside the database: the signing key, every checkpoint, and the hash of every sealed event.

Whoever can change the database, be it as its superuser, cannot change these. All files belong to the account that runs the
console, with mode 0600 in a folder with mode 0700; the database's server runs under another account wherever it can.
"""

import json
import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, load_pem_private_key

from apps.journal.lifecycle.notes import VerifierKey
from apps.journal.lifecycle.tree import HASH_SIZE

CHUNK = 16384
LAST_PIECE = 64 * 1024  # many checkpoints


class SealFault(Exception):
    """The journal is not what was sealed, or cannot be sealed. The message says why."""


class SealFolder:
    """`key` signs; `keys` are all public keys there were; `checkpoints.jsonl` and `leaves` only grow."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.key = path / "key"
        self.keys = path / "keys"
        self.checkpoints = path / "checkpoints.jsonl"
        self.leaves = path / "leaves"

    def open(self) -> None:
        """Make the folder if it is missing."""
        self.path.mkdir(mode=0o700, parents=True, exist_ok=True)

    def signing_key(self) -> Ed25519PrivateKey | None:
        """The key; None where there is none yet. Raises SealFault for one that others may read, or that is damaged."""
        try:
            if self.key.stat().st_mode & 0o077:
                raise SealFault(f"{self.key} may be read by others: set its mode to 0600, or remove it to get a new one")
            found = load_pem_private_key(self.key.read_bytes(), password=None)
        except FileNotFoundError:
            return None
        except ValueError:
            found = None
        if not isinstance(found, Ed25519PrivateKey):
            raise SealFault(f"{self.key} is damaged: restore it, or remove it to get a new one")
        return found

    def make_key(self, origin: str) -> Ed25519PrivateKey:
        """A new key, whose public half is added to the known ones first."""
        key = Ed25519PrivateKey.generate()
        self.know([VerifierKey(origin, key.public_key().public_bytes_raw())])
        partial = self.path / f".key.{os.getpid()}"
        with os.fdopen(os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
            file.write(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
            _to_disk(file.fileno())
        partial.rename(self.key)
        return key

    def know(self, keys: Iterable[VerifierKey]) -> None:
        """Add public keys to those whose checkpoints are believed."""
        known = {key.text for key in self.known_keys()}
        _append(self.keys, "".join(f"{key.text}\n" for key in keys if key.text not in known).encode())

    def known_keys(self) -> list[VerifierKey]:
        """Public keys, oldest first. Raises BadNote for a line that is none."""
        return [VerifierKey.parse(line) for line in _lines(self.keys)]

    def add_checkpoint(self, note: str) -> None:
        """Append a checkpoint."""
        _append(self.checkpoints, json.dumps({"note": note}).encode() + b"\n")

    def notes(self) -> Iterator[str]:
        """Every checkpoint, oldest first. What a crash left of a last line is none."""
        for line in _lines(self.checkpoints):
            yield str(json.loads(line)["note"])

    def last_note(self) -> str | None:
        """The newest checkpoint, whatever the size of the file."""
        try:
            with self.checkpoints.open("rb") as file:
                end = file.seek(0, os.SEEK_END)
                file.seek(max(0, end - LAST_PIECE))
                whole = file.read().rpartition(b"\n")[0].splitlines()
        except FileNotFoundError:
            return None
        return str(json.loads(whole[-1])["note"]) if whole else None

    def add_leaves(self, size: int, leaves: Iterable[bytes]) -> None:
        """Append the hashes of the leaves after the first `size`; what a crash left after those is overwritten."""
        handle = os.open(self.leaves, os.O_RDWR | os.O_CREAT, 0o600)
        with os.fdopen(handle, "r+b") as file:
            file.truncate(size * HASH_SIZE)
            file.seek(size * HASH_SIZE)
            for leaf in leaves:
                file.write(leaf)
            _to_disk(file.fileno())

    def leaf_count(self) -> int:
        """How many whole hashes there are."""
        try:
            return self.leaves.stat().st_size // HASH_SIZE
        except FileNotFoundError:
            return 0

    def read_leaves(self, size: int) -> Iterator[bytes]:
        """The first `size` hashes, or as many as there are."""
        if not self.leaf_count():
            return
        with self.leaves.open("rb") as file:
            left = size
            while left and (piece := file.read(min(left, CHUNK) * HASH_SIZE)):
                whole = len(piece) // HASH_SIZE
                yield from (piece[at * HASH_SIZE : (at + 1) * HASH_SIZE] for at in range(whole))
                left -= whole
                if whole * HASH_SIZE != len(piece):
                    return

    def set_aside(self, name: str) -> None:
        """Move checkpoints and leaves into a folder of that name, so that sealing starts from what the database holds."""
        aside = self.path / name
        aside.mkdir(mode=0o700)
        for path in (self.checkpoints, self.leaves):
            if path.exists():
                path.rename(aside / path.name)


def _lines(path: Path) -> Iterator[str]:
    """The whole lines of a file."""
    try:
        with path.open(encoding="utf-8") as file:
            for line in file:
                if line.endswith("\n") and line.strip():
                    yield line
    except FileNotFoundError:
        return


def _append(path: Path, data: bytes) -> None:
    """Append whole lines, after removing what a crash left of one, and see them on the disk."""
    if not data:
        return
    with os.fdopen(os.open(path, os.O_RDWR | os.O_CREAT, 0o600), "r+b") as file:
        end = file.seek(0, os.SEEK_END)
        file.seek(max(0, end - LAST_PIECE))
        last = file.read()
        if last and not last.endswith(b"\n"):
            end -= len(last) - (last.rfind(b"\n") + 1)
            file.truncate(end)
        file.seek(end)
        file.write(data)
        _to_disk(file.fileno())


def _to_disk(descriptor: int) -> None:
    os.fsync(descriptor)
