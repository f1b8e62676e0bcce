"""What a bridge does about a Stop: end motion, see it end, say so, and stay so until it is cleared."""

import logging
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Protocol
from uuid import UUID

from workers.client import SpoolFull
from workers.edge.base.latch import Held, Latch
from workers.edge.base.watchdog import Watchdog
from workers.protocol import ClearStop, StopLatched, StopNow, StopReleased
from workers.protocol.facts import AnyBody

AGAIN_AFTER_S = 0.3  # still moving then: tell it again, and say so
SPOOL_RETRY_S = 0.5
_log = logging.getLogger(__name__)


class Motion(Protocol):
    """What ends motion and sees it end."""

    def stop(self, subject: str) -> None:
        """End motion."""

    def is_moving(self, subject: str) -> bool:
        """Whether it moves."""


class Stops:
    """Watches over Stops. Motion is ended and seen to end on the watchdog's thread; the disk has a thread of its own."""

    def __init__(
        self,
        folder: Path,
        motion: Motion,
        *,
        now_ms: Callable[[], int],
        fact: Callable[[str, AnyBody], object],
        released: Callable[[str], None],
    ) -> None:
        """`fact` keeps an urgent fact; `released` is told of a subject that nothing holds any more."""
        self.latch = Latch(folder)
        self.watchdog = Watchdog(self._look)
        self._motion, self._now_ms, self._fact, self._released = motion, now_ms, fact, released
        self._told: dict[tuple[UUID, str], tuple[float, int]] = {}  # when, and at which tick of control
        self._still: dict[tuple[UUID, str], int] = {}  # since when it was seen to stand
        self._ticks = 0
        self._standing: set[tuple[UUID, str]] = set()
        self._disk = ThreadPoolExecutor(1, thread_name_prefix="stops")
        self._moving_on: set[str] = set()
        self._known: frozenset[str] = frozenset()

    def start(self, subjects: frozenset[str]) -> None:
        """Begin; what was latched before this start is stopped before anything else happens."""
        self._known = subjects
        for held, subject in self.latch.unconfirmed():
            if subject in subjects:
                self._tell(held.stop, subject)
        for subject in subjects:
            if self.latch.holds(subject):
                self._motion.stop(subject)
        self.watchdog.start()

    def tick(self) -> None:
        """A step of control has ended. One that looked just before a Stop came may have begun motion just after: end it."""
        if self.latch.is_empty:
            return
        for subject in self._known:
            if self.latch.holds(subject):
                if self._motion.is_moving(subject):
                    for key in [key for key in list(self._still) if key[1] == subject]:
                        self._still.pop(key, None)
                self._motion.stop(subject)
        self._ticks += 1

    def stop_now(self, message: StopNow) -> None:
        """A Stop arrived."""
        mine = [subject for subject in message.subjects if subject in self._known]
        if self.latch.hold(message.stop, mine, self._now_ms()):
            self.watchdog.wake()
            self._disk.submit(self.latch.keep)

    def clear_stop(self, message: ClearStop) -> None:
        """A Stop was cleared. The fact first, then the latch: dying in between only means to be told again."""
        self._disk.submit(self._clear, message)

    def faults(self, subject: str) -> list[str]:
        """What is wrong with stopping it, in words."""
        found = ["stop not in effect"] if subject in self._moving_on else []
        return [*found, "stop not on disk"] if self.latch.fault else found

    def close(self) -> None:
        """End the threads and close the files."""
        self.watchdog.stop()
        self._disk.shutdown()
        self.latch.close()

    def _tell(self, stop: UUID, subject: str) -> None:
        self._told[stop, subject] = (time.monotonic(), self._ticks)
        try:
            self._motion.stop(subject)
        except Exception:  # noqa: BLE001 - the others have to be stopped all the same; this one is told again
            _log.exception("stopping %s failed", subject)

    def _look(self) -> None:
        waiting = [(held, subject) for held, subject in self.latch.unconfirmed() if subject in self._known]
        for held, subject in waiting:  # first end all motion, then see whether it ended
            if (held.stop, subject) not in self._told:
                self._tell(held.stop, subject)
        for held, subject in waiting:
            if (held.stop, subject) not in self._standing:
                self._see(held, subject)

    def _see(self, held: Held, subject: str) -> None:
        key = (held.stop, subject)
        told_at, told_tick = self._told[key]
        late = time.monotonic() - told_at > AGAIN_AFTER_S
        if not self._motion.is_moving(subject):
            since = self._still.setdefault(key, self._now_ms())
            if self._ticks > told_tick or late:  # no step that did not know of it is still under way
                self._standing.add(key)
                self._moving_on.discard(subject)
                self._disk.submit(self._confirm, held, subject, since)
            return
        self._still.pop(key, None)
        if late:
            if subject not in self._moving_on:
                _log.error("%s still moves %.0f ms after it was told to stop", subject, AGAIN_AFTER_S * 1000)
            self._moving_on.add(subject)
            self._tell(held.stop, subject)

    def _confirm(self, held: Held, subject: str, ended_at_ms: int) -> None:
        body = StopLatched(stop=held.stop, received_at_ms=held.received_at_ms, ended_at_ms=ended_at_ms)
        try:
            self._fact(subject, body)
        except SpoolFull:
            time.sleep(SPOOL_RETRY_S)
            self._standing.discard((held.stop, subject))  # the next look tries again
            return
        self.latch.confirm(held.stop, subject)
        self.latch.keep()

    def _clear(self, message: ClearStop) -> None:
        held = [subject for subject in message.subjects if message.stop in self.latch.of(subject)]
        try:
            for subject in held:
                self._fact(subject, StopReleased(stop=message.stop))
        except SpoolFull:
            _log.error("a Stop stays in effect: that it was released cannot be kept")
            return
        self.latch.release(message.stop, held)
        self.latch.keep()
        for subject in held:
            self._told.pop((message.stop, subject), None)
            self._still.pop((message.stop, subject), None)
            self._standing.discard((message.stop, subject))
            self._moving_on.discard(subject)
            if not self.latch.holds(subject):
                self._released(subject)
