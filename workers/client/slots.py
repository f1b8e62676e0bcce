"""What is newest-wins: one place for each subject's state, report and picture. A newer one replaces what was not sent yet."""

import threading
from collections.abc import Iterator
from itertools import islice

from workers.protocol import Picture, Report, State, States
from workers.protocol.samples import MOST_STATES


class Slots:
    """Samples that wait to be sent. Never a queue: memory stays the same however long the link is gone."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._states: dict[int, State] = {}
        self._reports: dict[int, Report] = {}
        self._pictures: dict[tuple[int, str], Picture] = {}
        self.replaced = 0  # samples that nobody ever got

    def put_state(self, state: State) -> None:
        """Offer a state."""
        with self._lock:
            self.replaced += state.subject in self._states
            self._states[state.subject] = state

    def put_report(self, report: Report) -> None:
        """Offer a report."""
        with self._lock:
            self.replaced += report.subject in self._reports
            self._reports[report.subject] = report

    def put_picture(self, picture: Picture) -> None:
        """Offer a picture."""
        with self._lock:
            self.replaced += (picture.subject, picture.camera) in self._pictures
            self._pictures[picture.subject, picture.camera] = picture

    def take_reports(self) -> list[Report]:
        """All that wait."""
        with self._lock:
            taken, self._reports = list(self._reports.values()), {}
        return taken

    def take_states(self) -> list[State]:
        """All that wait."""
        with self._lock:
            taken, self._states = list(self._states.values()), {}
        return taken

    def take_picture(self) -> Picture | None:
        """The one that waits longest: pictures go one at a time, so that nothing waits behind more than one."""
        with self._lock:
            if not self._pictures:
                return None
            return self._pictures.pop(next(iter(self._pictures)))

    def clear(self) -> None:
        """Forget all: what was measured for a socket that is gone is old for the next one."""
        with self._lock:
            self._states, self._reports, self._pictures = {}, {}, {}


def batches(states: list[State]) -> Iterator[States]:
    """Frames of at most fifty states."""
    rest = iter(states)
    while batch := list(islice(rest, MOST_STATES)):
        yield States(states=batch)
