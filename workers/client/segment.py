"""One file of the spool: facts one after another, each with its length and checksum, written only at the end."""

import os
import struct
import zlib
from collections.abc import Iterator
from pathlib import Path

import msgspec

from workers.protocol import Fact

SUFFIX = ".facts"
_HEAD = struct.Struct(">II")  # length, CRC-32
_MOST = 64 * 1024  # no fact is near this: a longer length is damage
_PACK, _UNPACK = msgspec.msgpack.Encoder(), msgspec.msgpack.Decoder(Fact)


def packed(fact: Fact) -> bytes:
    """One fact as it lies on the disk."""
    body = _PACK.encode(fact)
    return _HEAD.pack(len(body), zlib.crc32(body)) + body


class Segment:
    """One file. `first` is the sequence of its first fact, `count` how many whole facts it holds, `size` their bytes.

    `damaged` says that after those there is something that is no fact: a write that a crash cut off, or a bad disk.
    """

    def __init__(self, path: Path, *, first: int) -> None:
        self.path, self.first = path, first
        self.count, self.size, self.damaged = 0, 0, False
        self._read_from: tuple[int, int] = (first, 0)  # a sequence and where it lies, so that reading on does not begin anew

    @classmethod
    def found(cls, path: Path) -> "Segment":
        """A file that an earlier run left: read to the first thing that is no fact."""
        segment = cls(path, first=int(path.stem))
        for fact, end in segment._facts(0):
            if fact.sequence != segment.first + segment.count:
                break
            segment.count, segment.size = segment.count + 1, end
        segment.damaged = path.stat().st_size > segment.size
        return segment

    @property
    def last(self) -> int:
        """Sequence of the last whole fact; one before `first` when there is none."""
        return self.first + self.count - 1

    def append(self, handle: int, fact: Fact) -> None:
        """Write one fact to the open file. Raises OSError; then nothing of it counts, and the rest of a write is cut off."""
        record = packed(fact)
        try:
            written = os.write(handle, record)
            if written != len(record):
                raise OSError(f"only {written} of {len(record)} bytes were written")
        except OSError:
            os.ftruncate(handle, self.size)
            raise
        self.count, self.size = self.count + 1, self.size + len(record)

    def read(self, start: int, most: int) -> list[Fact]:
        """Up to `most` facts from sequence `start` on."""
        known, offset = self._read_from
        found: list[Fact] = []
        for fact, end in self._facts(offset if known <= start else 0):
            if fact.sequence > self.last or len(found) == most:
                break
            if fact.sequence >= start:
                found.append(fact)
                self._read_from = (fact.sequence + 1, end)
        return found

    def _facts(self, offset: int) -> Iterator[tuple[Fact, int]]:
        with self.path.open("rb") as file:
            file.seek(offset)
            while len(head := file.read(_HEAD.size)) == _HEAD.size:
                length, checksum = _HEAD.unpack(head)
                body = file.read(length) if length <= _MOST else b""
                if len(body) != length or zlib.crc32(body) != checksum:
                    return
                offset += _HEAD.size + length
                try:
                    yield _UNPACK.decode(body), offset
                except msgspec.DecodeError:  # whole, but from a version that we do not read
                    return
