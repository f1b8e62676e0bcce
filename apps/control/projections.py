"""The only writer of the tables of Stop. Applying events in the order of their positions gives the tables, from empty too.

Applying an event twice leaves the same row.
"""

from collections.abc import Callable, Iterable
from itertools import groupby
from typing import Any, TypeVar, cast
from uuid import UUID, uuid5

from apps.control import events
from apps.control.models import Stop, StopPolicy, StopSubject
from apps.control.types import Phase
from apps.journal.events import decode
from apps.journal.types import Payload, Recorded

TABLES = (Stop._meta.db_table, StopSubject._meta.db_table, StopPolicy._meta.db_table)
Event = TypeVar("Event", bound=Payload)
_APPLIERS: dict[type[Payload], Callable[[Any], None]] = {}
_NO_CLEAR: dict[str, Any] = {
    "clear_id": None,
    "clear_by": None,
    "clear_by_name": "",
    "clear_requested_at": None,
    "clear_expires_at": None,
}


def _on(kind: type[Event]) -> Callable[[Callable[[Event], None]], Callable[[Event], None]]:
    def keep(apply_one: Callable[[Event], None]) -> Callable[[Event], None]:
        _APPLIERS[kind] = apply_one
        return apply_one

    return keep


def apply_payloads(payloads: Iterable[Payload]) -> None:
    """Project facts that were just appended, in the same transaction."""
    for kind, run in groupby(payloads, key=type):
        if kind is events.StopConfirmed:
            _confirmed_all([cast("events.StopConfirmed", one) for one in run])
        else:
            for payload in run:
                _APPLIERS[kind](payload)


def apply_recorded(recorded: Recorded) -> bool:
    """Project one stored event, for a rebuild; False when it is none of ours."""
    if not recorded.type.startswith("control."):
        return False
    payload = decode(recorded.type, recorded.version, cast("dict[str, Any]", recorded.payload))
    _APPLIERS[type(payload)](payload)
    return True


def row_of_subject(stop_id: UUID, subject: str) -> StopSubject:
    """The row of one subject `kind:id` under one Stop, not saved."""
    kind, _, subject_id = subject.partition(":")
    return StopSubject(id=uuid5(stop_id, subject), stop_id=stop_id, kind=kind, subject_id=UUID(subject_id))


def _add_subjects(stop_id: UUID, subjects: Iterable[str]) -> None:
    StopSubject.objects.bulk_create([row_of_subject(stop_id, one) for one in subjects], ignore_conflicts=True)


@_on(events.StopRequested)
def _requested(fact: events.StopRequested) -> None:
    values: dict[str, Any] = {
        "is_recorded": True,
        "is_whole_site": fact.is_whole_site,
        "pressed_by": fact.pressed_by,
        "pressed_by_name": fact.pressed_by_name,
        "pressed_at": fact.pressed_at,
        "received_at": fact.received_at,
        "gateway": fact.gateway,
    }
    new = {"site_id": fact.site_id, "phase": Phase.ACTIVE, "round": fact.round, "recorded_at": fact.recorded_at}
    row, is_new = Stop.objects.get_or_create(id=fact.stop_id, defaults=values | new)
    if not is_new:
        if fact.round > row.round:  # pressed anew: nobody has confirmed this round yet
            again = {"phase": Phase.ACTIVE, "round": fact.round, "cleared_by": None, "cleared_by_name": "", "cleared_at": None}
            values |= again | _NO_CLEAR
            row.subjects.update(latched_at=None, ended_at=None, confirmed_at=None, released_at=None)
        Stop.objects.filter(id=fact.stop_id).update(**values)
    _add_subjects(fact.stop_id, fact.subjects)


@_on(events.StopSent)
def _sent(fact: events.StopSent) -> None:
    _add_subjects(fact.stop_id, fact.subjects)


@_on(events.StopConfirmed)
def _confirmed(fact: events.StopConfirmed) -> None:
    _confirmed_all([fact])


def _confirmed_all(facts: list[events.StopConfirmed]) -> None:
    """Two statements for however many robots stopped at once."""
    # A bridge may be heard before the gateway that sent the Stop could record it.
    unknown = {
        fact.stop_id: Stop(id=fact.stop_id, site_id=fact.site_id, phase=Phase.ACTIVE, recorded_at=fact.recorded_at)
        for fact in reversed(facts)
    }
    Stop.objects.bulk_create(unknown.values(), ignore_conflicts=True)
    rows = {}
    for fact in facts:
        row = row_of_subject(fact.stop_id, fact.subject)
        row.latched_at, row.ended_at, row.confirmed_at = fact.latched_at, fact.ended_at, fact.recorded_at
        rows[row.id] = row
    changed = ["latched_at", "ended_at", "confirmed_at", "released_at"]
    StopSubject.objects.bulk_create(rows.values(), update_conflicts=True, unique_fields=["id"], update_fields=changed)


@_on(events.StopReleased)
def _released(fact: events.StopReleased) -> None:
    row = row_of_subject(fact.stop_id, fact.subject)
    StopSubject.objects.filter(id=row.id).update(released_at=fact.released_at)


@_on(events.ClearRequested)
def _clear_requested(fact: events.ClearRequested) -> None:
    Stop.objects.filter(id=fact.stop_id).update(
        phase=Phase.CLEAR_REQUESTED,
        clear_id=fact.clear_id,
        clear_by=fact.requested_by,
        clear_by_name=fact.requested_by_name,
        clear_requested_at=fact.requested_at,
        clear_expires_at=fact.expires_at,
    )


@_on(events.ClearWithdrawn)
def _clear_withdrawn(fact: events.ClearWithdrawn) -> None:
    Stop.objects.filter(id=fact.stop_id, clear_id=fact.clear_id).update(phase=Phase.ACTIVE, **_NO_CLEAR)


@_on(events.StopCleared)
def _cleared(fact: events.StopCleared) -> None:
    Stop.objects.filter(id=fact.stop_id).update(
        phase=Phase.CLEARED, cleared_by=fact.cleared_by, cleared_by_name=fact.cleared_by_name, cleared_at=fact.cleared_at
    )


@_on(events.PolicyChanged)
def _policy_changed(fact: events.PolicyChanged) -> None:
    values = {"one_person_clears": fact.one_person_clears, "version": fact.version}
    StopPolicy.objects.update_or_create(site_id=fact.site_id, defaults=values)
