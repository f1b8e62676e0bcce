"""What detectors say: a condition began or ended. Saying it again changes nothing, so a detector may repeat itself freely."""

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from typing import TypeVar
from uuid import UUID

from django.db.models import Q

from apps.accounts import selectors as accounts
from apps.alarms import events, projections
from apps.alarms.lifecycle import cause_of, decide_condition, evolve
from apps.alarms.models import Alarm, AlarmSubject
from apps.alarms.types import AlarmState, Condition, definition_named
from apps.journal.services import operation
from apps.journal.types import Payload
from apps.kernel import clock
from apps.kernel.ids import new_id
from apps.kernel.permissions import require
from apps.kernel.types import Actor, SubjectRef

AT_ONCE = 200  # so that one transaction holds the site's alarms for well under a second
Key = tuple[str, str, UUID]  # definition, kind and id of the cause
Item = TypeVar("Item")


def set_condition(
    *,
    actor: Actor,
    definition: str,
    subject: SubjectRef,
    active: bool,
    at: datetime,
    detail: str = "",
    cause: SubjectRef | None = None,
) -> bool:
    """Say that a condition holds for a subject, or no longer does. False when that was known. See `set_conditions`."""
    found = Condition(definition=definition, subject=subject, active=active, at=at, detail=detail, cause=cause)
    return set_conditions(actor=actor, conditions=[found]) == 1


def set_conditions(*, actor: Actor, conditions: Sequence[Condition]) -> int:
    """Say what holds and what no longer does, for many subjects at once, and return how much of it was new.

    Each subject carries its site. `actor` is a part of the console. What is known costs one query and no lock. Inside
    another operation, that one locks `events.site_stream(site_id)` together with its own streams. Raises LookupError for
    a name that is in no definition, NotAllowed for anybody but the console.
    """
    require(actor, "alarms.set_condition")
    by_site: dict[UUID, list[Condition]] = {}
    for one in conditions:
        if one.subject.site_id is None:
            raise ValueError(f"a condition of {one.subject.kind} {one.subject.id} names no site")
        definition_named(one.definition)
        by_site.setdefault(one.subject.site_id, []).append(one)
    return sum(
        _set_at(actor, site_id, chunk) for site_id in sorted(by_site) for chunk in _chunks(_unknown(site_id, by_site[site_id]))
    )


def set_everywhere(*, actor: Actor, definition: str, kind: str, id: UUID, active: bool, at: datetime, detail: str = "") -> int:
    """Say at every site that something of the console itself is wrong, or no longer is: it concerns all of them."""
    subjects = [SubjectRef(kind, id, site_id=site_id) for site_id in accounts.every_site_id()]
    found = [Condition(definition=definition, subject=one, active=active, at=at, detail=detail) for one in subjects]
    return set_conditions(actor=actor, conditions=found)


def _chunks(found: Sequence[Item]) -> Iterator[Sequence[Item]]:
    for start in range(0, len(found), AT_ONCE):
        yield found[start : start + AT_ONCE]


def _unknown(site_id: UUID, found: Sequence[Condition]) -> list[Condition]:
    """Those that say something new, by one look without a lock; the decision is made again under it."""
    rows = AlarmSubject.objects.filter(
        alarm__site_id=site_id,
        alarm__closed_at=None,
        is_active=True,
        alarm__definition__in={one.definition for one in found},
        subject_id__in={one.subject.id for one in found},
    ).values_list("alarm__definition", "kind", "subject_id")
    holds = set(rows)
    return [one for one in found if ((one.definition, one.subject.kind, one.subject.id) in holds) != one.active]


def _set_at(actor: Actor, site_id: UUID, found: Sequence[Condition]) -> int:
    with operation(actor, "alarms.set_conditions") as act:
        act.lock(events.site_stream(site_id))
        standing = _standing(site_id, found)
        facts: list[Payload] = []
        for one in found:
            key = _key_in(standing, one)
            said = decide_condition(
                standing.get(key),
                one,
                definition_named(one.definition),
                new_id=new_id(),
                site_id=site_id,
                now=clock.now(),
            )
            for fact in said:
                standing[key] = evolve(standing.get(key), fact)
            facts += said
        if facts:
            act.append(events.site_stream(site_id), facts, site_id=site_id)
            projections.apply_payloads(facts)
        return len(facts)


def _key_in(standing: dict[Key, AlarmState], found: Condition) -> Key:
    """The alarm that this belongs to: the one that holds the subject already, however it was grouped then, else its cause's."""
    subject = f"{found.subject.kind}:{found.subject.id}"
    for key, alarm in standing.items():
        if key[0] == found.definition and alarm.members.get(subject):
            return key
    cause = cause_of(found, definition_named(found.definition))
    return (found.definition, cause.kind, cause.id)


def _standing(site_id: UUID, found: Iterable[Condition]) -> dict[Key, AlarmState]:
    """Alarms that stand for these conditions, by what they are about: two queries."""
    found = list(found)
    causes = {cause_of(one, definition_named(one.definition)).id for one in found}
    subjects = {one.subject.id for one in found}
    about = Q(cause_id__in=causes) | Q(subjects__subject_id__in=subjects, subjects__is_active=True)
    rows = Alarm.objects.filter(about, site_id=site_id, closed_at=None, definition__in={one.definition for one in found})
    standing = {row.id: row for row in rows.distinct()}
    members = AlarmSubject.objects.members(standing)
    return {(row.definition, row.cause_kind, row.cause_id): row.as_state(members[row.id]) for row in standing.values()}
