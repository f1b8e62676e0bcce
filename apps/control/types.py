"""Words of Stop: a latched remote stop request. It is no emergency stop, and nothing here may be called one."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from uuid import UUID

from apps.kernel.types import SubjectRef

CLEAR_HOLDS = timedelta(minutes=5)  # whoever asked has looked at the floor; after this somebody must look again
MOST_SUBJECTS = 500


class Phase(StrEnum):
    """How far a Stop is. Only `cleared` lets the subjects move again."""

    ACTIVE = "active"
    CLEAR_REQUESTED = "clear_requested"
    CLEARED = "cleared"


class SubjectState(StrEnum):
    """What one subject said of one Stop. Only its own report makes it latched."""

    UNCONFIRMED = "unconfirmed"
    LATCHED = "latched"
    RELEASED = "released"


@dataclass(frozen=True)
class ClearRequest:
    """One person's word that the subjects may be released; it needs another's, before `expires_at`."""

    id: UUID
    by: UUID
    requested_at: datetime
    expires_at: datetime


@dataclass(frozen=True)
class StopState:
    """What a decision about one Stop needs to know.

    `is_recorded` is False while only a subject's own report tells of it: the press is still on its way from a gateway.
    `round` counts how often it was pressed anew after a clear.
    """

    id: UUID
    site_id: UUID
    phase: Phase
    round: int
    is_recorded: bool
    cleared_at: datetime | None = None
    clear: ClearRequest | None = None
    sent_to: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Confirmation:
    """A subject's own report that a Stop took effect: when it was received and when motion had ended, by its clock."""

    stop_id: UUID
    subject: SubjectRef
    latched_at: datetime
    ended_at: datetime


@dataclass(frozen=True)
class Release:
    """A subject's own report that a Stop no longer holds it."""

    stop_id: UUID
    subject: SubjectRef
    released_at: datetime


@dataclass(frozen=True)
class ActiveStop:
    """A Stop that is not cleared. With `is_whole_site` it holds every subject of the site, later ones too.

    `subjects` are those it named or was sent to, as `kind:id`.
    """

    id: UUID
    site_id: UUID
    is_whole_site: bool
    subjects: frozenset[str]
    by: str

    def holds(self, subject: str) -> bool:
        """Whether the subject `kind:id` of this site must be latched by it."""
        return self.is_whole_site or subject in self.subjects


@dataclass(frozen=True)
class StoppedSubject:
    """One subject of a Stop as a page shows it."""

    kind: str
    id: UUID
    name: str
    url: str
    state: SubjectState
    latched_at: datetime | None
    ended_at: datetime | None
    released_at: datetime | None
