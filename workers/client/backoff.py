"""How long to wait before the next try: longer each time, and never the same for two bridges."""

import random

FIRST_S, MOST_S = 0.5, 15.0
SLOW_S = 30.0  # after a refusal that only a person can mend


class Backoff:
    """Waits between tries, in seconds. After a console comes back, bridges return spread out, not at once."""

    def __init__(self, chance: random.Random | None = None) -> None:
        self._chance = chance or random.Random()  # noqa: S311 - spreads load, guards nothing
        self._tries = 0

    def worked(self) -> None:
        """A connection held: the next wait is short again."""
        self._tries = 0

    def next_s(self) -> float:
        """The wait before the next try."""
        most = min(MOST_S, FIRST_S * 2.0**self._tries)
        self._tries = min(self._tries + 1, 10)
        return self._chance.uniform(most / 4, most)

    def slow_s(self) -> float:
        """The wait after a refusal that will most likely be repeated."""
        return self._chance.uniform(SLOW_S / 2, SLOW_S)
