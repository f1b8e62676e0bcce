"""Facts on disk until the console has committed them.

One folder a boot, one file a megabyte, oldest first. A fact is written before `append` returns, so that it survives the
death of this process, and synced before it is sent, so that what the console acknowledged was safe from a power cut too.
"""

import logging
import os
import threading
from collections.abc import Iterable
from pathlib import Path
from uuid import UUID

from workers.client.boots import Boot, found_in, new_file, number_after, renumbered, sync_folder
from workers.client.segment import SUFFIX, Segment
from workers.protocol import Fact, Facts, Resume
from workers.protocol.facts import MOST_FACTS, AnyBody

MOST_BYTES = 64 * 2**20
RESERVED = 1 / 8  # of it, for facts that tell of a Stop
SEGMENT_BYTES = 2**20
_log = logging.getLogger(__name__)


class SpoolFull(Exception):
    """No more facts fit on this disk, or within the bound. Nothing was kept."""


class Spool:
    """The facts of this boot and of earlier ones. Every method may be called from any thread."""

    def __init__(self, folder: Path, boot: UUID, *, most_bytes: int = MOST_BYTES, segment_bytes: int = SEGMENT_BYTES) -> None:
        """Open what is there. Raises OSError where the folder cannot be used."""
        self._folder, self._most, self._segment_bytes = folder, most_bytes, segment_bytes
        self._lock = threading.RLock()
        self._handle: int | None = None
        self._dirty = False
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._boots = found_in(folder)
        self._boots.append(Boot(folder, number_after(self._boots), boot))

    @property
    def boot(self) -> UUID:
        """The boot under which facts are kept now."""
        return self._boots[-1].boot

    @property
    def waiting(self) -> int:
        """Facts that nobody has taken yet."""
        with self._lock:
            return sum(one.waiting for one in self._boots)

    @property
    def size(self) -> int:
        """Bytes on disk."""
        with self._lock:
            return sum(one.size for one in self._boots)

    def append(self, *, subject: str, at_ms: int, body: AnyBody, urgent: bool = False) -> tuple[UUID, int]:
        """Keep one fact; returns its boot and sequence. Raises SpoolFull. `urgent` ones may use what is reserved."""
        with self._lock:
            if self.size >= self._most * (1.0 if urgent else 1 - RESERVED):
                raise SpoolFull(f"{self.waiting} facts wait for the console; no more fit")
            current = self._boots[-1]
            fact = Fact(sequence=current.last + 1, at_ms=at_ms, subject=subject, body=body)
            try:
                segment, handle = self._writable(current)
                segment.append(handle, fact)
            except OSError as error:
                raise SpoolFull(f"the disk refuses: {error}") from error
            self._dirty = True
            return current.boot, fact.sequence

    def sync(self) -> None:
        """Make what was kept survive a power cut. Raises OSError."""
        with self._lock:
            if not self._dirty or self._handle is None:
                return
            handle, self._dirty = os.dup(self._handle), False
        try:
            os.fsync(handle)  # outside the lock: whoever has a fact to keep must not wait for the disk
        except OSError:
            self._dirty = True
            raise
        finally:
            os.close(handle)

    def pending(self, most: int = MOST_FACTS) -> Facts | None:
        """The next facts to send, those of the oldest boot first. Call `sync` before."""
        with self._lock:
            for one in self._boots:
                if facts := one.read(one.taken + 1, most):
                    return Facts(boot=one.boot, facts=facts)
        return None

    def taken(self, boot: UUID, sequence: int) -> None:
        """The console committed all facts of this boot up to `sequence`. Less than was known before changes nothing."""
        with self._lock:
            for one in list(self._boots):
                if one.boot == boot:
                    self._forget(one, min(sequence, one.last))

    def resume(self, told: Iterable[Resume]) -> None:
        """What a console that welcomed us says it has of each boot, which may be less than it said before."""
        for one in told:
            self.lost(one.boot, one.sequence)
            self.taken(one.boot, one.sequence)

    def lost(self, boot: UUID, sequence: int) -> None:
        """The console has this boot up to `sequence` only: a backup was restored, if it acknowledged more before.

        What is still on disk never reached that console and cannot follow a gap: it goes under another boot.
        """
        with self._lock:
            for place, one in enumerate(self._boots):
                current = place == len(self._boots) - 1
                if one.boot != boot or sequence >= one.first - 1 or not (one.waiting or current):
                    continue
                _log.error("the console lost facts %d to %d of boot %s", sequence + 1, one.first - 1, boot)
                if current:
                    self._close_file()
                self._boots[place] = renumbered(one, after=max(one.taken, one.first - 1))

    def close(self) -> None:
        """Sync and close."""
        self.sync()
        with self._lock:
            self._close_file()
            if not self._boots[-1].waiting:
                self._boots[-1].remove()

    def _writable(self, current: Boot) -> tuple[Segment, int]:
        """The file to write to, a new one where there is none or the last is large enough."""
        if self._handle is not None and current.segments[-1].size < self._segment_bytes:
            return current.segments[-1], self._handle
        self.sync()
        self._close_file()
        current.folder.mkdir(exist_ok=True, mode=0o700)
        segment = Segment(current.folder / f"{current.last + 1}{SUFFIX}", first=current.last + 1)
        self._handle = new_file(segment.path)
        current.segments.append(segment)
        sync_folder(current.folder)
        sync_folder(self._folder)
        return segment, self._handle

    def _forget(self, one: Boot, sequence: int) -> None:
        current = one is self._boots[-1]
        one.taken = max(one.taken, sequence)
        while one.segments and one.segments[0].last <= one.taken:
            if current and len(one.segments) == 1:
                if one.segments[0].size < self._segment_bytes // 4:
                    return  # not worth a new file yet
                self._close_file()
            one.segments.pop(0).path.unlink(missing_ok=True)
        if not current and not one.segments:
            one.remove()
            self._boots.remove(one)

    def _close_file(self) -> None:
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None
