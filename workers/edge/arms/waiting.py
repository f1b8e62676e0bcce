"""Arms that wait for a person, kept on disk: a bridge that was killed must not come back as if somebody had been there."""

from pathlib import Path

import msgspec

from workers.edge.base.slots import Slots
from workers.protocol import Mode


class Kept(msgspec.Struct, frozen=True, kw_only=True):
    """Why each of them waits, and as what it reports itself meanwhile."""

    arms: dict[str, tuple[str, Mode]] = {}


class Waiting:
    """Which subjects wait."""

    def __init__(self, folder: Path) -> None:
        """Raises OSError where the folder cannot be used."""
        self._slots = Slots(folder, "waiting", Kept())

    def of(self, subject: str) -> tuple[str, Mode] | None:
        """Why it waits and as what, or None."""
        return self._slots.kept.arms.get(subject)

    def begin(self, subject: str, reason: str, mode: Mode) -> None:
        """It waits from now on. Raises OSError."""
        self._slots.write(Kept(arms=self._slots.kept.arms | {subject: (reason, mode)}))

    def end(self, subject: str) -> None:
        """It was reset. Raises OSError."""
        if subject in self._slots.kept.arms:
            self._slots.write(Kept(arms={name: why for name, why in self._slots.kept.arms.items() if name != subject}))

    def close(self) -> None:
        """Close the files."""
        self._slots.close()
