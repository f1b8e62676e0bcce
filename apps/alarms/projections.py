"""The only writer of the tables of alarms. Applying events in the order of their positions gives the tables, from empty too.

What a fact makes of an alarm is said once, in `lifecycle.evolve`; here it is only kept. Applying an event twice leaves the
same rows. A batch loads and saves each alarm once, however many subjects it names.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar, cast
from uuid import UUID, uuid5

from apps.alarms import events
from apps.alarms.lifecycle import evolve
from apps.alarms.models import Alarm, AlarmSubject, Call
from apps.alarms.types import AlarmState, State
from apps.journal.events import decode
from apps.journal.types import Payload, Recorded

TABLES = (Alarm._meta.db_table, AlarmSubject._meta.db_table, Call._meta.db_table)
Fact = TypeVar("Fact", bound=Payload)
_STAMPS: dict[type[Payload], Callable[[Alarm, Any], None]] = {}


def _stamp(kind: type[Fact]) -> Callable[[Callable[[Alarm, Fact], None]], Callable[[Alarm, Fact], None]]:
    def keep(stamp: Callable[[Alarm, Fact], None]) -> Callable[[Alarm, Fact], None]:
        _STAMPS[kind] = stamp
        return stamp

    return keep


def apply_payloads(payloads: Sequence[Payload]) -> None:
    """Project facts that were just appended, in the same transaction."""
    facts = cast("Sequence[events.AlarmFact]", payloads)
    ids = {fact.alarm_id for fact in facts}
    rows = {row.id: row for row in Alarm.objects.filter(id__in=ids)}
    members = AlarmSubject.objects.members(rows)
    states = {row.id: row.as_state(members[row.id]) for row in rows.values()}
    subjects = _subjects_that_end(facts)
    calls: dict[UUID, Call] = {}
    for fact in facts:
        states[fact.alarm_id] = evolve(states.get(fact.alarm_id), fact)
        if isinstance(fact, events.AlarmRaised):
            rows.setdefault(fact.alarm_id, _row_of(fact))
        row = rows[fact.alarm_id]
        _keep_state(row, states[fact.alarm_id], fact)
        _STAMPS[type(fact)](row, fact)
        if isinstance(fact, events.Annunciation):
            call = _call_of(row, fact)
            calls.setdefault(call.id, call)  # joined while it calls already: the same call
        _keep_subject(subjects, fact)
    _save(rows.values(), subjects.values(), calls.values())


def apply_recorded(recorded: Recorded) -> bool:
    """Project one stored event, for a rebuild; False when it is none of ours."""
    if not recorded.type.startswith("alarms."):
        return False
    apply_payloads([decode(recorded.type, recorded.version, cast("dict[str, Any]", recorded.payload))])
    return True


def _subjects_that_end(facts: Iterable[Payload]) -> dict[UUID, AlarmSubject]:
    """Rows that these facts change; those that begin are written whole and need not be read."""
    ends = [uuid5(fact.alarm_id, fact.subject) for fact in facts if isinstance(fact, events.SubjectReturned)]
    return AlarmSubject.objects.in_bulk(ends)


def _save(rows: Iterable[Alarm], subjects: Iterable[AlarmSubject], calls: Iterable[Call]) -> None:
    Alarm.objects.bulk_create(rows, update_conflicts=True, unique_fields=["id"], update_fields=_CHANGED)
    AlarmSubject.objects.bulk_create(
        subjects, update_conflicts=True, unique_fields=["id"], update_fields=["is_active", "detail", "began_at", "ended_at"]
    )
    Call.objects.bulk_create(calls, ignore_conflicts=True)


_CHANGED = [field.name for field in Alarm._meta.get_fields() if field.concrete and field.name != "id"]


def _row_of(fact: events.AlarmRaised) -> Alarm:
    kind, _, cause_id = fact.cause.partition(":")
    return Alarm(
        id=fact.alarm_id,
        site_id=fact.site_id,
        definition=fact.definition,
        priority=fact.priority,
        cause_kind=kind,
        cause_id=UUID(cause_id),
        raised_at=fact.began_at,
        called_at=fact.recorded_at,
    )


def _call_of(row: Alarm, fact: events.Annunciation) -> Call:
    return Call(
        id=uuid5(row.id, str(fact.annunciations)),
        site_id=row.site_id,
        alarm_id=row.id,
        definition=row.definition,
        priority=row.priority,
        called_at=fact.recorded_at,
    )


def _keep_state(row: Alarm, state: AlarmState, fact: Payload) -> None:
    if isinstance(fact, events.Annunciation) and fact.annunciations > row.annunciations:  # it calls anew
        row.called_at = fact.recorded_at
        row.acknowledged_at = row.acknowledged_by = row.escalated_at = None
        row.acknowledged_by_name = ""
    row.state = state.state
    row.version = state.version
    row.annunciations = state.annunciations
    row.active_count = sum(state.members.values())
    row.shelved_until = state.shelved_until
    if state.shelved_until is None:
        row.shelved_by_name = row.shelve_reason = ""


def _keep_subject(subjects: dict[UUID, AlarmSubject], fact: Payload) -> None:
    if isinstance(fact, events.Annunciation):
        kind, _, subject_id = fact.subject.partition(":")
        row = AlarmSubject(
            id=uuid5(fact.alarm_id, fact.subject),
            alarm_id=fact.alarm_id,
            kind=kind,
            subject_id=UUID(subject_id),
            is_active=True,
            detail=fact.detail,
            began_at=fact.began_at,
            ended_at=None,
        )
        subjects[row.id] = row
    elif isinstance(fact, events.SubjectReturned):
        row = subjects[uuid5(fact.alarm_id, fact.subject)]
        row.is_active, row.ended_at = False, fact.ended_at


@_stamp(events.AlarmRaised)
def _raised(row: Alarm, fact: events.AlarmRaised) -> None:
    row.detail = fact.detail


@_stamp(events.SubjectJoined)
def _joined(row: Alarm, fact: events.SubjectJoined) -> None:
    row.detail = fact.detail
    row.returned_at = None


@_stamp(events.SubjectReturned)
def _returned(row: Alarm, fact: events.SubjectReturned) -> None:
    if row.active_count == 0:
        row.returned_at = fact.ended_at
    if row.state == State.NORMAL:
        row.closed_at = fact.recorded_at


@_stamp(events.AlarmAcknowledged)
def _acknowledged(row: Alarm, fact: events.AlarmAcknowledged) -> None:
    row.acknowledged_at = fact.acknowledged_at
    row.acknowledged_by = fact.acknowledged_by
    row.acknowledged_by_name = fact.acknowledged_by_name
    if row.state == State.NORMAL:
        row.closed_at = fact.acknowledged_at


@_stamp(events.AlarmReset)
def _reset(row: Alarm, fact: events.AlarmReset) -> None:
    row.closed_at = fact.reset_at


@_stamp(events.AlarmShelved)
def _shelved(row: Alarm, fact: events.AlarmShelved) -> None:
    row.shelved_by_name, row.shelve_reason = fact.shelved_by_name, fact.reason


@_stamp(events.AlarmUnshelved)
def _unshelved(_row: Alarm, _fact: events.AlarmUnshelved) -> None:
    """All in the state."""


@_stamp(events.AlarmEscalated)
def _escalated(row: Alarm, fact: events.AlarmEscalated) -> None:
    row.escalated_at = fact.escalated_at
