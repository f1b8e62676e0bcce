"""What a bridge tells of its subjects."""

from dataclasses import dataclass, field
from uuid import UUID

from workers.protocol import Driver, Mode


@dataclass(frozen=True, kw_only=True)
class Doing:
    """What a subject does, as the bridge knows it; the base adds whether it moves and which Stops hold it."""

    mode: Mode
    driver: Driver = Driver.NOBODY
    task: str = ""
    activity: str = ""
    skill: str = ""
    episode: UUID | None = None
    step: int = 0
    needs_reset: str = ""
    faults: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Shot:
    """One camera's picture, and when it was taken by the bridge's clock."""

    subject: str
    camera: str
    jpeg: bytes = field(repr=False)
    at_ms: int
