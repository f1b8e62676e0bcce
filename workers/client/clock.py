"""Two clocks: this machine's own, and what it knows of the console's."""

import time
from collections import deque
from dataclasses import dataclass

REMEMBERED = 16  # round trips; the best of them counts


class DeviceClock:
    """This machine's own clock. `skew_ms` is added to it: a fault that tests and demonstrations inject."""

    def __init__(self) -> None:
        self.skew_ms = 0.0

    def now_ms(self) -> int:
        """Milliseconds since 1970, as this machine believes."""
        return int(time.time() * 1000 + self.skew_ms)


@dataclass(frozen=True)
class _RoundTrip:
    delay_ms: float
    console_ahead_ms: float  # console's time minus our monotonic clock, at the middle of the round trip


class ConsoleClock:
    """The console's time, from acknowledged heartbeats.

    It is kept against the monotonic clock, so that a jump of this machine's own clock changes nothing but the offset. The
    round trip with the least delay says most: half of it is the most that it can be wrong by.
    """

    def __init__(self) -> None:
        self._trips: deque[_RoundTrip] = deque(maxlen=REMEMBERED)

    def learn(self, *, sent: float, received: float, console_ms: int) -> None:
        """One round trip: both ends by the monotonic clock, in seconds, and the console's time in between."""
        middle_ms = (sent + received) / 2 * 1000
        self._trips.append(_RoundTrip((received - sent) * 1000, console_ms - middle_ms))

    @property
    def round_trip_ms(self) -> float | None:
        """The least delay seen lately."""
        return min((trip.delay_ms for trip in self._trips), default=None)

    def now_ms(self) -> float | None:
        """What the console's clock shows now; None before the first round trip."""
        if not self._trips:
            return None
        best = min(self._trips, key=lambda trip: trip.delay_ms)
        return best.console_ahead_ms + time.monotonic() * 1000

    def offset_ms(self, device: DeviceClock) -> float | None:
        """What to add to the device's clock to get the console's."""
        now = self.now_ms()
        return None if now is None else round(now - device.now_ms(), 3)
