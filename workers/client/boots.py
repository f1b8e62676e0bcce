"""The folders of a spool: one a boot, with the files of its facts."""

import logging
import os
import shutil
from pathlib import Path
from uuid import UUID, uuid4

import msgspec

from workers.client.segment import SUFFIX, Segment
from workers.protocol import Fact

_NEW, _GONE = "new-", "gone-"
STEP = 1000
_log = logging.getLogger(__name__)


class Boot:
    """The facts of one boot. `taken` is how far the console has them; files below it may be gone."""

    def __init__(self, folder: Path, number: int, boot: UUID) -> None:
        self.folder, self.number, self.boot = folder / f"{number:08d}-{boot}", number, boot
        self.taken = 0
        self.segments: list[Segment] = []

    @property
    def first(self) -> int:
        """Sequence of the first fact still on disk."""
        return self.segments[0].first if self.segments else self.taken + 1

    @property
    def last(self) -> int:
        """Sequence of the last fact; one before the first when there is none."""
        return self.segments[-1].last if self.segments else self.taken

    @property
    def size(self) -> int:
        """Bytes on disk."""
        return sum(one.size for one in self.segments)

    @property
    def waiting(self) -> int:
        """Facts on disk that nobody has taken yet."""
        return self.last - max(self.taken, self.first - 1)

    def read(self, start: int, most: int) -> list[Fact]:
        """Up to `most` facts from sequence `start` on, within one file."""
        for segment in self.segments:
            if start <= segment.last:
                return segment.read(max(start, segment.first), most)
        return []

    def remove(self) -> None:
        """Nobody needs these facts any more."""
        shutil.rmtree(self.folder, ignore_errors=True)


def found_in(folder: Path) -> list[Boot]:
    """What earlier runs left, oldest first."""
    _mend(folder)
    boots: list[Boot] = []
    for path in sorted(folder.iterdir()):
        number, _, name = path.name.partition("-")
        if path.is_dir() and number.isdigit():
            boots += _read(folder, int(number), UUID(name))
    return boots


def _mend(folder: Path) -> None:
    """Finish or undo what a crash during `renumbered` left."""
    for path in folder.glob(f"{_NEW}*"):
        shutil.rmtree(path)
    for path in folder.glob(f"{_GONE}*"):
        name = path.name.removeprefix(_GONE)
        if any(folder.glob(f"{name.partition('-')[0]}-*")):
            shutil.rmtree(path)
        else:
            path.rename(folder / name)


def _read(folder: Path, number: int, boot: UUID) -> list[Boot]:
    found = Boot(folder, number, boot)
    late: list[Segment] = []
    for path in sorted(found.folder.glob(f"*{SUFFIX}"), key=lambda path: int(path.stem)):
        segment = Segment.found(path)
        if segment.damaged:
            _log.warning("spool: %s ends in something that is no fact; cut off at %d", path, segment.size)
            os.truncate(path, segment.size)
        follows = not late and (not found.segments or segment.first == found.last + 1)
        (found.segments if follows else late).append(segment)
    found.taken = found.first - 1
    kept = [found] if found.waiting else []
    if late:
        _log.error("spool: facts %d to %d of boot %s are lost", found.last + 1, late[0].first - 1, boot)
        kept.append(_placed(_copied(folder, _next_to(folder, number), late, after=0)))
        for segment in late:
            segment.path.unlink()
    if not found.waiting:
        found.remove()
    return kept


def number_after(boots: list[Boot]) -> int:
    """The number of a new boot. Numbers put boots in order, and leave room for one to be split."""
    return (boots[-1].number // STEP + 1) * STEP if boots else STEP


def _next_to(folder: Path, number: int) -> int:
    while any(folder.glob(f"{number:08d}-*")):
        number += 1
    return number


def renumbered(one: Boot, *, after: int) -> Boot:
    """Another boot in the place of this one, with its facts after a sequence, numbered from 1.

    A crash in between leaves the one or the other, never both. Raises OSError.
    """
    folder = one.folder.parent
    other = _copied(folder, one.number, one.segments, after=after)
    gone = folder / f"{_GONE}{one.folder.name}"
    if one.folder.exists():
        one.folder.rename(gone)
    _placed(other)
    shutil.rmtree(gone, ignore_errors=True)
    return other


def _copied(folder: Path, number: int, segments: list[Segment], *, after: int) -> Boot:
    other = Boot(folder, number, uuid4())
    other.folder = folder / f"{_NEW}{other.folder.name}"
    other.folder.mkdir(mode=0o700)
    segment = Segment(other.folder / f"1{SUFFIX}", first=1)
    handle = new_file(segment.path)
    try:
        for part in segments:
            for fact in part.read(max(after + 1, part.first), part.count):
                segment.append(handle, msgspec.structs.replace(fact, sequence=segment.last + 1))
        os.fsync(handle)
    finally:
        os.close(handle)
    if segment.count:
        other.segments = [segment]
    else:
        segment.path.unlink()
    sync_folder(other.folder)
    return other


def _placed(other: Boot) -> Boot:
    other.folder = other.folder.rename(other.folder.with_name(other.folder.name.removeprefix(_NEW)))
    for segment in other.segments:
        segment.path = other.folder / segment.path.name
    sync_folder(other.folder.parent)
    return other


def new_file(path: Path) -> int:
    """An open file that was not there before, for appending. Raises OSError."""
    return os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC, 0o600)


def sync_folder(folder: Path) -> None:
    """Make names of new files survive a power cut."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
