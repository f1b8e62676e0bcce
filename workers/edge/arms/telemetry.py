"""States sent twice or in the wrong order: what happens to a batch between the arms and the socket."""

from collections.abc import Callable

from workers.protocol import State

COPIES = 3


class Disorder:
    """Changes batches of states as the knobs of each subject say. Called on the client's thread only."""

    def __init__(self, duplicates: Callable[[int], bool], reorders: Callable[[int], bool]) -> None:
        """Both are asked with a subject's place in the hello."""
        self._duplicates, self._reorders = duplicates, reorders
        self._kept_back: dict[int, State] = {}

    def __call__(self, states: list[State]) -> list[State]:
        """What is sent instead of these."""
        found: list[State] = []
        for state in states:
            earlier = self._kept_back.pop(state.subject, None)
            if self._reorders(state.subject) and earlier is None:
                self._kept_back[state.subject] = state
                continue
            found += [state] * (COPIES if self._duplicates(state.subject) else 1)
            if earlier is not None:
                found.append(earlier)
        return found
