"""A small record on disk that is replaced whole, also on a full disk and under a power cut."""

import os
import struct
import zlib
from pathlib import Path
from typing import Generic, TypeVar

import msgspec

Kept = TypeVar("Kept", bound=msgspec.Struct)
_HEAD = struct.Struct(">QII")  # number of the write, length, CRC-32
RESERVED_BYTES = 256 * 1024


class Slots(Generic[Kept]):
    """Two places on disk, written in turn; the newest whole one counts.

    Both are filled at the start, so that a later write needs no new space: a Stop must be kept on a full disk too. A write
    is in the system's hands when `write` returns and survives the death of this process; `sync` makes it survive a power cut.
    """

    def __init__(self, folder: Path, name: str, empty: Kept) -> None:
        """Raises OSError where the folder cannot be used."""
        self._decoder = msgspec.msgpack.Decoder(type(empty))
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._handles = [_opened(folder / f"{name}.{place}") for place in ("a", "b")]
        found = [self._read(handle) for handle in self._handles]
        self._number, self.kept = max((one for one in found if one is not None), key=lambda one: one[0], default=(0, empty))

    def write(self, kept: Kept) -> None:
        """Replace the record. Raises OSError; what was kept before then still counts on disk."""
        self.kept = kept
        self._number += 1
        body = msgspec.msgpack.encode(kept)
        whole = _HEAD.pack(self._number, len(body), zlib.crc32(body)) + body
        if os.pwrite(self._handles[self._number % 2], whole, 0) != len(whole):
            raise OSError("the disk took only a part")

    def sync(self) -> None:
        """Wait until it is on the disk itself. Raises OSError."""
        os.fdatasync(self._handles[self._number % 2])

    def close(self) -> None:
        """Close the files."""
        for handle in self._handles:
            os.close(handle)

    def _read(self, handle: int) -> tuple[int, Kept] | None:
        number, length, checksum = _HEAD.unpack(os.pread(handle, _HEAD.size, 0))
        body = os.pread(handle, length, _HEAD.size)
        if not number or len(body) != length or zlib.crc32(body) != checksum:
            return None
        try:
            return number, self._decoder.decode(body)
        except msgspec.DecodeError:
            return None


def _opened(path: Path) -> int:
    handle = os.open(path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
    missing = RESERVED_BYTES - os.fstat(handle).st_size
    if missing > 0:
        os.pwrite(handle, b"\0" * missing, os.fstat(handle).st_size)
        os.fsync(handle)
    return handle
