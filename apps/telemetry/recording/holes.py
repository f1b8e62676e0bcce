"""Sequences of one boot that did not come yet: what a late state may still fill, and how a repeated one is known."""

from collections import deque

MOST = 64  # gaps remembered a subject: with every fifth state lost, more than half a minute at 10 a second


class Holes:
    """Gaps between the sequences taken so far, oldest first; the oldest are forgotten, so that memory is bounded."""

    __slots__ = ("_gaps",)

    def __init__(self) -> None:
        self._gaps: deque[tuple[int, int]] = deque(maxlen=MOST)

    def open(self, first: int, last: int) -> None:
        """Nothing came from `first` to `last`, both included."""
        if first <= last:
            self._gaps.append((first, last))

    def fill(self, sequence: int) -> bool:
        """Whether this one was missing; it is not any more."""
        found = next((gap for gap in self._gaps if gap[0] <= sequence <= gap[1]), None)
        if found is None:
            return False
        left = [(first, last) for first, last in ((found[0], sequence - 1), (sequence + 1, found[1])) if first <= last]
        gaps = [part for gap in self._gaps for part in (left if gap is found else (gap,))]
        self._gaps = deque(gaps, maxlen=MOST)
        return True
