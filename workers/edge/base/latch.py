"""Stops in effect: on disk, so that neither a killed bridge nor a restarted machine moves before they are cleared."""

import threading
from collections.abc import Iterable
from pathlib import Path
from uuid import UUID

import msgspec

from workers.edge.base.slots import Slots


class Held(msgspec.Struct, frozen=True, kw_only=True):
    """One Stop: when it arrived, by this machine's clock, whom it holds, and who of them was seen to stand still."""

    stop: UUID
    received_at_ms: int
    subjects: tuple[str, ...]
    confirmed: tuple[str, ...] = ()


class Latched(msgspec.Struct, frozen=True, kw_only=True):
    """All of them. `epochs` is the highest epoch of control seen for each subject: lower ones are refused for good."""

    stops: tuple[Held, ...] = ()
    epochs: dict[str, int] = {}


class Latch:
    """Which Stop holds which subject. Memory first, then disk: a Stop takes effect before anything is written."""

    def __init__(self, folder: Path) -> None:
        """Raises OSError where the folder cannot be used."""
        self._lock = threading.Lock()
        self._slots = Slots(folder, "latch", Latched())
        self._stops = {held.stop: held for held in self._slots.kept.stops}
        self._epochs = dict(self._slots.kept.epochs)
        self.fault = ""  # why the disk does not keep it, in words

    def hold(self, stop: UUID, subjects: Iterable[str], received_at_ms: int) -> list[str]:
        """A Stop arrived; returns those that it did not hold before. Call `keep` once motion was told to end."""
        with self._lock:
            held = self._stops.get(stop) or Held(stop=stop, received_at_ms=received_at_ms, subjects=())
            new = [subject for subject in dict.fromkeys(subjects) if subject not in held.subjects]
            self._stops[stop] = msgspec.structs.replace(held, subjects=(*held.subjects, *new))
        return new

    def confirm(self, stop: UUID, subject: str) -> None:
        """The subject was seen to stand still under this Stop, and the fact of it was kept."""
        with self._lock:
            held = self._stops.get(stop)
            if held is not None and subject not in held.confirmed:
                self._stops[stop] = msgspec.structs.replace(held, confirmed=(*held.confirmed, subject))

    def release(self, stop: UUID, subjects: Iterable[str]) -> list[str]:
        """A Stop was cleared for these; returns those that it held."""
        with self._lock:
            held = self._stops.get(stop)
            if held is None:
                return []
            gone = [subject for subject in dict.fromkeys(subjects) if subject in held.subjects]
            left = tuple(subject for subject in held.subjects if subject not in gone)
            if left:
                confirmed = tuple(subject for subject in held.confirmed if subject in left)
                self._stops[stop] = msgspec.structs.replace(held, subjects=left, confirmed=confirmed)
            else:
                del self._stops[stop]
        return gone

    def admit(self, subject: str, epoch: int) -> bool:
        """Whether a command of this epoch may act: not one lower than the highest seen. Remembers a higher one on disk."""
        with self._lock:
            highest = self._epochs.get(subject, 0)
            if epoch > highest:
                self._epochs[subject] = epoch
        if epoch > highest:
            self.keep()
        return epoch >= highest

    def keep(self) -> None:
        """Write what holds now, and wait for the disk. A disk that refuses is said in `fault`; memory still holds."""
        with self._lock:
            kept = Latched(stops=tuple(self._stops.values()), epochs=dict(self._epochs))
            try:
                self._slots.write(kept)
                self.fault = ""
            except OSError as error:
                self.fault = f"Stops are not kept on disk: {error}"
        try:
            self._slots.sync()
        except OSError as error:
            self.fault = f"Stops are not kept on disk: {error}"

    def of(self, subject: str) -> list[UUID]:
        """The Stops that hold a subject, oldest first."""
        if not self._stops:
            return []
        with self._lock:
            return [held.stop for held in self._stops.values() if subject in held.subjects]

    @property
    def is_empty(self) -> bool:
        """Whether no Stop holds anybody."""
        return not self._stops

    def holds(self, subject: str) -> bool:
        """Whether any Stop holds it."""
        with self._lock:
            return any(subject in held.subjects for held in self._stops.values())

    def unconfirmed(self) -> list[tuple[Held, str]]:
        """Whose standing still is still to be seen."""
        with self._lock:
            return [
                (held, subject) for held in self._stops.values() for subject in held.subjects if subject not in held.confirmed
            ]

    def close(self) -> None:
        """Close the files."""
        self._slots.close()
