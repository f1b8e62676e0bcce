"""Pictures of all arms in turn, with what the knobs do to them."""

import logging
from collections.abc import Callable, Iterator, Mapping

from workers.edge.arms.arm import Arm
from workers.edge.arms.channels import CAMERAS
from workers.edge.base import Shot
from workers.sims.faults import Fault
from workers.sims.pictures import NoPictures, Photographer, Printer

PICTURES_HZ, MOST_OF_ONE_HZ = 24.0, 4.0  # of all arms together, and of one
_log = logging.getLogger(__name__)


class Cameras:
    """One picture at each call of `next_shot`, of one arm after another. Everything on one thread."""

    def __init__(self, arms: Mapping[str, Arm], now_ms: Callable[[], int]) -> None:
        self._arms, self._now_ms = arms, now_ms
        self._order = list(arms)
        self._place = 0
        self._last: dict[str, bytes] = {}
        self._printer = Printer()
        self._photographer: Photographer | None = None
        self.fault = ""  # why there are none, in words

    @property
    def rate_hz(self) -> float:
        """How many pictures a second all arms together send."""
        return min(PICTURES_HZ, MOST_OF_ONE_HZ * len(self._order))

    def next_shot(self) -> Iterator[Shot]:
        """The next arm's picture, or none where this machine cannot draw."""
        if self.fault:
            return
        subject = self._order[self._place]
        self._place = (self._place + 1) % len(self._order)
        at_ms = self._now_ms()
        try:
            jpeg = self._of(subject, at_ms)
        except NoPictures as error:
            self.fault = str(error)
            _log.error("%s", error)
            return
        yield Shot(subject=subject, camera=CAMERAS[0], jpeg=jpeg, at_ms=at_ms)

    def _of(self, subject: str, at_ms: int) -> bytes:
        arm = self._arms[subject]
        if Fault.CAMERA_BLACK in arm.knobs:
            return self._printer.black()
        if Fault.CAMERA_FREEZE in arm.knobs and subject in self._last:
            return self._last[subject]
        if Fault.CAMERA_FOREIGN in arm.knobs:
            other = self._order[(self._order.index(subject) + 1) % len(self._order)]
            if other in self._last:
                return self._last[other]
        if self._photographer is None:
            self._photographer = Photographer()
        with arm.lock:
            self._photographer.look(arm.bench)
        self._last[subject] = self._printer.jpeg(self._photographer.draw(), arm.name, at_ms)
        return self._last[subject]

    def close(self) -> None:
        """Let go of the context."""
        if self._photographer is not None:
            self._photographer.close()
