"""Facts of alarms. All of one site share a stream, so that they have one order and pages follow one position."""

from datetime import datetime
from uuid import UUID

from apps.journal.events import event
from apps.journal.types import Payload


def site_stream(site_id: UUID) -> str:
    """The stream of the alarms of one site."""
    return f"alarms.site:{site_id}"


class AlarmFact(Payload, frozen=True):
    """Base of every fact of one alarm."""

    alarm_id: UUID
    site_id: UUID


class Annunciation(AlarmFact, frozen=True):
    """A condition began for a subject. `version` is that of the alarm after it; `annunciations` how often it called so far."""

    subject: str
    detail: str
    version: int
    annunciations: int
    began_at: datetime
    recorded_at: datetime


@event("alarms.raised")
class AlarmRaised(Annunciation, frozen=True):
    """An alarm asks for a person. Subjects and causes are `kind:id`; `priority` is 1 to 4."""

    definition: str
    priority: int
    cause: str


@event("alarms.subject_joined")
class SubjectJoined(Annunciation, frozen=True):
    """The condition of a standing alarm began for one more subject, or again for one: nobody has seen that yet."""


@event("alarms.subject_returned")
class SubjectReturned(AlarmFact, frozen=True):
    """The condition of a standing alarm ended for one subject."""

    subject: str
    ended_at: datetime
    recorded_at: datetime


@event("alarms.acknowledged")
class AlarmAcknowledged(AlarmFact, frozen=True):
    """Somebody saw the alarm as it was at `version`."""

    version: int
    acknowledged_by: UUID | None
    acknowledged_by_name: str
    acknowledged_at: datetime


@event("alarms.reset")
class AlarmReset(AlarmFact, frozen=True):
    """Somebody ended an alarm that stood after its condition had gone."""

    reset_by: UUID | None
    reset_by_name: str
    reset_at: datetime


@event("alarms.shelved")
class AlarmShelved(AlarmFact, frozen=True):
    """Somebody hid the alarm for a time, and why."""

    until: datetime
    reason: str
    shelved_by: UUID | None
    shelved_by_name: str
    shelved_at: datetime


@event("alarms.unshelved")
class AlarmUnshelved(AlarmFact, frozen=True):
    """The alarm shows again: by a person, or because its time ran out."""

    unshelved_by: UUID | None
    unshelved_at: datetime


@event("alarms.escalated")
class AlarmEscalated(AlarmFact, frozen=True):
    """Nobody acknowledged the alarm within the time there is to respond."""

    version: int
    escalated_at: datetime
