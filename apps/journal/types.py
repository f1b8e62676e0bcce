"""What the journal records and returns."""

from dataclasses import dataclass
from datetime import datetime
from typing import ClassVar
from uuid import UUID

import msgspec


class Payload(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Base of every event payload. Subclasses are released for good: change one only by a new version."""

    event_type: ClassVar[str] = ""
    event_version: ClassVar[int] = 1


@dataclass(frozen=True)
class Recorded:
    """One event as stored. `digest` covers everything here and the digest before it in the stream."""

    position: int
    id: UUID
    stream: str
    sequence: int
    type: str
    version: int
    payload: dict[str, object]
    site_id: UUID | None
    actor_kind: str
    actor_id: UUID | None
    actor_name: str
    correlation_id: str
    recorded_at: datetime
    previous: bytes
    digest: bytes


@dataclass(frozen=True)
class ChainFault:
    """Where a stream does not hold: the first bad sequence and what is wrong with it."""

    stream: str
    sequence: int
    reason: str


@dataclass(frozen=True, slots=True)
class Numbered:
    """An event with its place in the order over all streams: `number` counts from 1 without gaps."""

    number: int
    position: int
    stream: str
    sequence: int
    type: str
    digest: bytes


@dataclass(frozen=True)
class Replayed:
    """One projected table beside what the facts alone make of it. Digests are over all rows, in any order.

    `missing` and `extra` show a few rows that the live table lacks, or has too many.
    """

    projection: str
    table: str
    rows: int
    digest: str
    replayed_rows: int
    replayed_digest: str
    missing: tuple[str, ...] = ()
    extra: tuple[str, ...] = ()

    @property
    def holds(self) -> bool:
        """Whether the live table is what the facts make."""
        return (self.rows, self.digest) == (self.replayed_rows, self.replayed_digest)


@dataclass(frozen=True)
class Fault:
    """Something that is not as it was written. `number` is the event's place in the tail where it has one."""

    reason: str
    number: int | None = None
    stream: str = ""
    sequence: int | None = None

    def __str__(self) -> str:
        """One line: where, and what."""
        where = [f"{self.stream} {self.sequence}".strip() if self.stream else ""]
        where.insert(0, f"event {self.number}" if self.number is not None else "")
        named = ", ".join(word for word in where if word)
        return f"{named}: {self.reason}" if named else self.reason


@dataclass(frozen=True)
class Verified:
    """What a walk through the whole journal found. `sealed` is the size of the last checkpoint whose root was compared."""

    events: int
    streams: int
    sealed: int
    checkpoints: int
    faults: tuple[Fault, ...]
    more: int = 0  # faults beyond those listed


@dataclass(frozen=True)
class SealStatus:
    """What a page shows of how well the journal is kept. Times are None where nothing has happened yet."""

    size: int
    sealed_at: datetime | None
    key: str
    note: str
    waiting: int  # events with a number that are not sealed yet
    fault: str
    lag_s: float
    verified_at: datetime | None
    verified_events: int
    verified_faults: tuple[str, ...]
    is_seal_checked: bool
