"""What people do with an alarm: see it, reset it, shelve it."""

from collections.abc import Callable
from datetime import datetime, timedelta
from uuid import UUID

from apps.alarms import events, projections
from apps.alarms.lifecycle import decide_acknowledgement, decide_reset, decide_shelving, decide_unshelving
from apps.alarms.models import Alarm, AlarmSubject
from apps.alarms.types import AlarmState
from apps.journal.services import operation
from apps.journal.types import Payload
from apps.kernel import clock
from apps.kernel.errors import NotFound
from apps.kernel.permissions import require
from apps.kernel.types import Actor, SubjectRef

NAME_LENGTH = 200


def acknowledge(
    *, actor: Actor, site_id: UUID, alarm_id: UUID, seen: int | None = None, idempotency_key: str | None = None
) -> Alarm:
    """Say that one saw an alarm. `seen` is the version the page showed: an alarm that grew since stays unseen.

    Raises NotAllowed, NotFound, Stale, Conflict when it was acknowledged already.
    """

    def decide(alarm: AlarmState, now: datetime) -> list[Payload]:
        return decide_acknowledgement(alarm, site_id=site_id, seen=seen, by=actor.id, by_name=actor.name[:NAME_LENGTH], now=now)

    return _handle(actor, "alarms.acknowledge", site_id, alarm_id, {"seen": seen}, decide, idempotency_key)


def reset_alarm(*, actor: Actor, site_id: UUID, alarm_id: UUID, idempotency_key: str | None = None) -> Alarm:
    """End an alarm that was seen and whose condition has gone. Raises NotAllowed, NotFound, Conflict for any other."""

    def decide(alarm: AlarmState, now: datetime) -> list[Payload]:
        return decide_reset(alarm, site_id=site_id, by=actor.id, by_name=actor.name[:NAME_LENGTH], now=now)

    return _handle(actor, "alarms.reset", site_id, alarm_id, {}, decide, idempotency_key)


def shelve_alarm(
    *, actor: Actor, site_id: UUID, alarm_id: UUID, minutes: int, reason: str, idempotency_key: str | None = None
) -> Alarm:
    """Hide a standing alarm for 1 to 720 minutes; it is listed with its reason and goes on underneath.

    Raises NotAllowed, NotFound, Invalid, Conflict when it is over or shelved already.
    """

    def decide(alarm: AlarmState, now: datetime) -> list[Payload]:
        return decide_shelving(
            alarm,
            site_id=site_id,
            until=now + timedelta(minutes=minutes),
            reason=reason,
            by=actor.id,
            by_name=actor.name[:NAME_LENGTH],
            now=now,
        )

    request = {"minutes": minutes, "reason": reason}
    return _handle(actor, "alarms.shelve", site_id, alarm_id, request, decide, idempotency_key)


def unshelve_alarm(*, actor: Actor, site_id: UUID, alarm_id: UUID, idempotency_key: str | None = None) -> Alarm:
    """Show a shelved alarm again before its time. Raises NotAllowed, NotFound, Conflict when it is not shelved."""

    def decide(alarm: AlarmState, now: datetime) -> list[Payload]:
        return decide_unshelving(alarm, site_id=site_id, by=actor.id, now=now)

    return _handle(actor, "alarms.shelve", site_id, alarm_id, {"unshelve": True}, decide, idempotency_key)


def _handle(
    actor: Actor,
    verb: str,
    site_id: UUID,
    alarm_id: UUID,
    request: dict[str, object],
    decide: Callable[[AlarmState, datetime], list[Payload]],
    idempotency_key: str | None,
) -> Alarm:
    """The steps that all acts on one alarm share, under the lock of the site's alarms."""
    asked = {"site_id": site_id, "alarm_id": alarm_id} | request
    with operation(actor, verb, key=idempotency_key, request=asked) as act:
        if not Alarm.objects.filter(id=alarm_id, site_id=site_id).exists():  # before anything is locked, or made to be locked
            raise NotFound("There is nothing here.")
        act.lock(events.site_stream(site_id))
        require(actor, verb, SubjectRef("site", site_id, site_id=site_id))
        row = Alarm.objects.filter(id=alarm_id, site_id=site_id).first()
        if row is None:
            raise NotFound("There is nothing here.")
        if act.is_replay:
            return row
        facts = decide(row.as_state(AlarmSubject.objects.members([alarm_id])[alarm_id]), clock.now())
        act.append(events.site_stream(site_id), facts, site_id=site_id)
        projections.apply_payloads(facts)
        act.done({})
        return Alarm.objects.get(id=alarm_id)
