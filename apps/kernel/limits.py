"""Rates and counts that one process holds in memory."""

from collections import Counter
from collections.abc import Hashable

from apps.kernel import clock


class TokenBucket:
    """`rate` a second on average, `burst` at once."""

    __slots__ = ("_at", "_burst", "_left", "_rate")

    def __init__(self, rate: float, burst: float) -> None:
        self._rate, self._burst = rate, burst
        self._left = burst
        self._at = clock.monotonic()

    def take(self) -> bool:
        """Whether one more is within the rate; counts it if so."""
        now = clock.monotonic()
        self._left = min(self._burst, self._left + (now - self._at) * self._rate)
        self._at = now
        if self._left < 1:
            return False
        self._left -= 1
        return True


class Places:
    """A bounded number of places for each holder."""

    def __init__(self, most: int) -> None:
        self.most = most
        self._taken: Counter[Hashable] = Counter()

    def take(self, holder: Hashable) -> bool:
        """Take one place; False when none is left."""
        if self._taken[holder] >= self.most:
            return False
        self._taken[holder] += 1
        return True

    def give_back(self, holder: Hashable) -> None:
        """Free one place."""
        self._taken[holder] -= 1
        if self._taken[holder] <= 0:
            del self._taken[holder]

    def __len__(self) -> int:
        return len(self._taken)
