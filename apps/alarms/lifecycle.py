"""The alarm machine, pure. `decide_...` gives the facts that follow or the refusal; `evolve` what a fact makes of an alarm.

    normal -> unacknowledged -> acknowledged -> normal, or latched -> normal
                    |  ^                          (by a reset)
                    v  |
                 returned -> normal, or latched

Only an acknowledgement leads from what nobody has seen to anything else. Whatever begins anew leads back to unseen.
"""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from apps.alarms import events
from apps.alarms.types import DEFINITIONS, MOST_DETAIL, UNSEEN, AlarmState, Condition, Definition, State
from apps.journal.types import Payload
from apps.kernel.errors import Conflict, Invalid, Stale
from apps.kernel.selectors import subject_name
from apps.kernel.types import SubjectRef

SHELVED_LEAST, SHELVED_MOST = timedelta(minutes=1), timedelta(hours=12)
REASON_LENGTH = 200


def cause_of(condition: Condition, definition: Definition) -> SubjectRef:
    """What the alarm is about: the common cause where the definition groups by it, else the subject itself."""
    return condition.cause if definition.groups and condition.cause is not None else condition.subject


def decide_condition(
    alarm: AlarmState | None, condition: Condition, definition: Definition, *, new_id: UUID, site_id: UUID, now: datetime
) -> list[Payload]:
    """The facts of what a detector found: none when it is known already. `alarm` is the standing one of the same cause."""
    subject = subject_name(condition.subject)
    was = alarm is not None and alarm.members.get(subject, False)
    if was == condition.active:
        return []
    if not condition.active:
        assert alarm is not None  # noqa: S101 - `was` says so
        gone = events.SubjectReturned(
            alarm_id=alarm.id, site_id=site_id, subject=subject, ended_at=condition.at, recorded_at=now
        )
        return [gone]
    said: dict[str, Any] = {
        "site_id": site_id,
        "subject": subject,
        "detail": condition.detail[:MOST_DETAIL],
        "began_at": condition.at,
        "recorded_at": now,
    }
    if alarm is None:
        raised = events.AlarmRaised(
            alarm_id=new_id,
            version=1,
            annunciations=1,
            definition=definition.name,
            priority=definition.priority.value,
            cause=subject_name(cause_of(condition, definition)),
            **said,
        )
        return [raised]
    calls = alarm.annunciations + (alarm.state is not State.UNACKNOWLEDGED)  # one that nobody saw yet calls already
    return [events.SubjectJoined(alarm_id=alarm.id, version=alarm.version + 1, annunciations=calls, **said)]


def refuse_unseen_version(alarm: AlarmState, seen: int | None) -> None:
    """An acknowledgement covers only what the person saw."""
    if seen is not None and seen != alarm.version:
        raise Stale("This alarm grew since you looked. Nothing was done; look again.", code="alarm_grew")


def decide_acknowledgement(
    alarm: AlarmState, *, site_id: UUID, seen: int | None, by: UUID | None, by_name: str, now: datetime
) -> list[Payload]:
    """Say that somebody saw it."""
    refuse_unseen_version(alarm, seen)
    if alarm.state not in UNSEEN:
        raise Conflict("This alarm was acknowledged already.", code="acknowledged")
    return [
        events.AlarmAcknowledged(
            alarm_id=alarm.id,
            site_id=site_id,
            version=alarm.version,
            acknowledged_by=by,
            acknowledged_by_name=by_name,
            acknowledged_at=now,
        )
    ]


def decide_reset(alarm: AlarmState, *, site_id: UUID, by: UUID | None, by_name: str, now: datetime) -> list[Payload]:
    """End an alarm that stands although its condition went."""
    if alarm.state is not State.LATCHED:
        raise Conflict("Only an alarm that was seen and whose condition has gone can be reset.", code="not_latched")
    return [events.AlarmReset(alarm_id=alarm.id, site_id=site_id, reset_by=by, reset_by_name=by_name, reset_at=now)]


def decide_shelving(
    alarm: AlarmState, *, site_id: UUID, until: datetime, reason: str, by: UUID | None, by_name: str, now: datetime
) -> list[Payload]:
    """Hide it for a time, with a reason that others can read."""
    reason = reason.strip()
    wrong: dict[str, list[str]] = {}
    if not 1 <= len(reason) <= REASON_LENGTH or not reason.isprintable():
        wrong["reason"] = [f"Give 1 to {REASON_LENGTH} printable characters."]
    if not SHELVED_LEAST <= until - now <= SHELVED_MOST:
        wrong["minutes"] = ["Give 1 to 720 minutes."]
    if wrong:
        raise Invalid("This alarm cannot be shelved so.", fields=wrong)
    if alarm.state is State.NORMAL:
        raise Conflict("This alarm is over.", code="alarm_over")
    if alarm.shelved_until is not None and alarm.shelved_until > now:
        raise Conflict("This alarm is shelved already.", code="shelved")
    return [
        events.AlarmShelved(
            alarm_id=alarm.id,
            site_id=site_id,
            until=until,
            reason=reason,
            shelved_by=by,
            shelved_by_name=by_name,
            shelved_at=now,
        )
    ]


def decide_unshelving(alarm: AlarmState, *, site_id: UUID, by: UUID | None, now: datetime) -> list[Payload]:
    """Show it again."""
    if alarm.shelved_until is None:
        raise Conflict("This alarm is not shelved.", code="not_shelved")
    return [events.AlarmUnshelved(alarm_id=alarm.id, site_id=site_id, unshelved_by=by, unshelved_at=now)]


def evolve(alarm: AlarmState | None, fact: Payload, definitions: Mapping[str, Definition] = DEFINITIONS) -> AlarmState:
    """The alarm after one more fact. Applying the last fact again changes nothing."""
    if isinstance(fact, events.AlarmRaised):
        members = {fact.subject: True}
        return AlarmState(fact.alarm_id, fact.definition, State.UNACKNOWLEDGED, fact.version, fact.annunciations, members)
    if alarm is None:
        raise ValueError(f"{type(fact).__name__} of an alarm that was never raised")
    if isinstance(fact, events.SubjectJoined):
        members = alarm.members | {fact.subject: True}
        return replace(
            alarm, state=State.UNACKNOWLEDGED, version=fact.version, annunciations=fact.annunciations, members=members
        )
    if isinstance(fact, events.SubjectReturned):
        return _settled(replace(alarm, members=alarm.members | {fact.subject: False}), definitions)
    if isinstance(fact, events.AlarmAcknowledged):
        seen = replace(alarm, state=State.ACKNOWLEDGED) if alarm.state in UNSEEN else alarm
        return _settled(seen, definitions)
    return _overlaid(alarm, fact)


def _overlaid(alarm: AlarmState, fact: Payload) -> AlarmState:
    if isinstance(fact, events.AlarmReset):
        return replace(alarm, state=State.NORMAL, shelved_until=None)
    if isinstance(fact, events.AlarmShelved):
        return replace(alarm, shelved_until=fact.until)
    if isinstance(fact, events.AlarmUnshelved):
        return replace(alarm, shelved_until=None)
    return alarm


def _settled(alarm: AlarmState, definitions: Mapping[str, Definition]) -> AlarmState:
    """Where an alarm stands whose condition holds for nobody any more; unchanged while it holds for somebody."""
    if alarm.is_active:
        return alarm
    if alarm.state is State.UNACKNOWLEDGED:
        return replace(alarm, state=State.RETURNED)
    if alarm.state is State.ACKNOWLEDGED:
        # A definition that left the table latches: better one reset too many than an alarm that vanished.
        known = definitions.get(alarm.definition)
        ends = known is not None and not known.latches
        return replace(
            alarm, state=State.NORMAL if ends else State.LATCHED, shelved_until=None if ends else alarm.shelved_until
        )
    return alarm
