"""Record what a Stop did: that it was pressed, and what each subject said of it.

Every act here first locks the stream of the site's Stops, so that all of a site have one order; rows are read under it.
Inside another operation that appends elsewhere too, that one locks `events.site_stream(site_id)` together with its own.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime
from uuid import UUID

import structlog

from apps.control import events, projections
from apps.control.lifecycle import decide_confirmations, decide_record, decide_releases
from apps.control.models import Stop, StopSubject
from apps.control.types import MOST_SUBJECTS, Confirmation, Release, SubjectState
from apps.journal.services import Operation, operation
from apps.journal.types import Payload
from apps.kernel import clock
from apps.kernel.errors import Conflict, Invalid
from apps.kernel.permissions import require
from apps.kernel.selectors import subject_name
from apps.kernel.types import Actor, ActorKind, SubjectRef

_log = structlog.get_logger(__name__)


def record_stop(
    *,
    actor: Actor,
    stop_id: UUID,
    site_id: UUID,
    subjects: Sequence[SubjectRef] | None,
    pressed_at: datetime,
    received_at: datetime,
    gateway: str,
    sent_to: Iterable[SubjectRef] = (),
) -> Stop:
    """Record a Stop that was sent. `subjects` None means the whole site; `sent_to` are those it was sent to so far.

    `actor` is who pressed it, with the roles by which the gateway let them: a role lost since takes nothing back. The id
    makes it once: repeating it adds only whom it was sent to since. A press received after the clear of the same id is
    a new round. Raises NotAllowed, NotFound, Invalid for too many subjects, Conflict for the id of another site's Stop.
    """
    named = sorted({subject_name(one) for one in subjects or ()})
    if subjects is not None and not 1 <= len(named) <= MOST_SUBJECTS:
        raise Invalid("The subjects are wrong.", fields={"subjects": [f"Name 1 to {MOST_SUBJECTS}, or the whole site."]})
    with operation(actor, "control.record_stop") as act:
        act.lock(events.site_stream(site_id))
        require(actor, "control.stop", SubjectRef("site", site_id, site_id=site_id))
        row = Stop.objects.filter(id=stop_id).first()
        if row is not None and row.site_id != site_id:
            raise Conflict("This Stop is another one.", code="stop_elsewhere")
        known = frozenset(one.name for one in row.subjects.all()) if row is not None else frozenset()
        pressed = events.StopRequested(
            stop_id=stop_id,
            site_id=site_id,
            round=1,
            is_whole_site=subjects is None,
            subjects=named,
            pressed_by=actor.id if actor.kind in {ActorKind.PERSON, ActorKind.TOKEN} else None,
            pressed_by_name=actor.name[:200],
            pressed_at=pressed_at,
            received_at=received_at,
            gateway=gateway[:100],
            recorded_at=clock.now(),
        )
        facts = decide_record(row.state(known) if row is not None else None, pressed, [subject_name(one) for one in sent_to])
        if facts:
            act.append(events.site_stream(site_id), facts, site_id=site_id)
            projections.apply_payloads(facts)
        return Stop.objects.get(id=stop_id)


def confirm_stop(
    *,
    actor: Actor,
    site_id: UUID,
    stop_id: UUID,
    subject: SubjectRef,
    latched_at: datetime,
    ended_at: datetime,
) -> bool:
    """Record a subject's own report that a Stop is in effect. False when it was recorded before. See `confirm_stops`."""
    return confirm_stops(actor=actor, site_id=site_id, said=[Confirmation(stop_id, subject, latched_at, ended_at)]) == 1


def confirm_stops(*, actor: Actor, site_id: UUID, said: Sequence[Confirmation]) -> int:
    """Record subjects' own reports that Stops are in effect, and return how many were new.

    A Stop that nobody recorded yet is taken from the report itself. `actor` is the machine; whether it may speak for the
    subjects was judged by whoever calls. A report of another site's Stop is left out.
    """
    with operation(actor, "control.confirm_stops") as act:
        states = _begin(act, site_id, said)
        others = _elsewhere(site_id, said)
        ours = [one for one in said if one.stop_id not in others]
        return _finish(act, site_id, decide_confirmations(ours, states, site_id=site_id, now=clock.now()))


def release_stop(*, actor: Actor, site_id: UUID, stop_id: UUID, subject: SubjectRef, released_at: datetime) -> bool:
    """Record a subject's own report that a Stop no longer holds it. False when it did not hold it. See `release_stops`."""
    return release_stops(actor=actor, site_id=site_id, said=[Release(stop_id, subject, released_at)]) == 1


def release_stops(*, actor: Actor, site_id: UUID, said: Sequence[Release]) -> int:
    """Record subjects' own reports that Stops hold them no longer, and return how many were new."""
    with operation(actor, "control.release_stops") as act:
        states = _begin(act, site_id, said)
        others = _elsewhere(site_id, said)
        ours = [one for one in said if one.stop_id not in others]
        return _finish(act, site_id, decide_releases(ours, states, site_id=site_id, now=clock.now()))


def _begin(
    act: Operation, site_id: UUID, said: Sequence[Confirmation] | Sequence[Release]
) -> dict[tuple[UUID, str], SubjectState]:
    """What the subjects said before, under the lock of the site's stream. Refuses whoever may not report."""
    act.lock(events.site_stream(site_id))
    require(act.actor, "control.confirm_stop", SubjectRef("site", site_id, site_id=site_id))
    rows = StopSubject.objects.filter(
        stop_id__in={one.stop_id for one in said}, subject_id__in={one.subject.id for one in said}
    )
    return {(row.stop_id, row.name): row.state for row in rows}


def _elsewhere(site_id: UUID, said: Sequence[Confirmation] | Sequence[Release]) -> frozenset[UUID]:
    """Stops of other sites among those reported: no bridge of this site was sent them."""
    found = Stop.objects.filter(id__in={one.stop_id for one in said}).exclude(site_id=site_id).values_list("id", flat=True)
    others = frozenset(found)
    if others:
        _log.warning("a report names stops of another site", site=str(site_id), stops=sorted(map(str, others)))
    return others


def _finish(act: Operation, site_id: UUID, facts: Sequence[Payload]) -> int:
    if facts:
        act.append(events.site_stream(site_id), facts, site_id=site_id)
        projections.apply_payloads(facts)
    return len(facts)
