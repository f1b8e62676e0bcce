"""Take what must not be lost: the facts that a bridge keeps on its disk until they are committed here."""

from collections.abc import Sequence
from datetime import UTC, datetime
from itertools import groupby
from typing import Any
from uuid import UUID

from apps.accounts.types import VerifiedMachine
from apps.control import services as control
from apps.control.events import site_stream as site_stops
from apps.control.types import Confirmation, Release
from apps.fleet import events, projections
from apps.fleet.lifecycle import EpisodeState, Known, OrderState, decide_fact
from apps.fleet.models import BootCursor, Bridge, Episode, Order, Robot
from apps.fleet.services.bridges import fenced, require_credential
from apps.fleet.services.robots import state_of
from apps.fleet.types import ROBOT, subject_name
from apps.journal.services import Operation, operation
from apps.journal.types import Payload
from apps.kernel.errors import NotFound
from apps.kernel.permissions import require
from apps.kernel.types import SubjectRef
from workers import protocol

OF_STOPS = (events.StopLatched, events.StopReleased)


def take_facts(*, machine: VerifiedMachine, bridge_id: UUID, epoch: int, facts: protocol.Facts, received_at: datetime) -> int:
    """Record facts of one boot in one transaction, each exactly once, and return how far they are taken now.

    What was taken before is taken again as nothing; where numbers are missing, only what comes before the gap is taken.
    Everything up to the number returned is committed when this returns, and the bridge may forget it.
    Raises Stale for an epoch that is not the newest, NotFound, NotSignedIn.
    """
    with operation(machine.actor, "fleet.take_facts") as act:
        require(machine.actor, "fleet.speak", SubjectRef("site", machine.site_id, site_id=machine.site_id))
        bridge = fenced(bridge_id, machine.site_id, epoch)
        refuse_other_credential(bridge, machine)
        require_credential(machine)
        up_to = BootCursor.objects.filter(bridge=bridge, boot=facts.boot).values_list("sequence", flat=True).first() or 0
        new = _following(facts.facts, up_to)
        if not new:
            return up_to
        known = _known(machine, bridge, new)
        payloads = [
            decide_fact(fact, known, bridge_id=bridge_id, epoch=epoch, boot=facts.boot, received_at=received_at) for fact in new
        ]
        _record(act, machine, payloads)
        return new[-1].sequence


def refuse_other_credential(bridge: Bridge, machine: VerifiedMachine) -> None:
    """Only the machine that said this bridge's newest hello tells its facts. Raises NotFound."""
    if bridge.credential_id != machine.credential_id:
        raise NotFound("There is nothing here.")


def _following(facts: Sequence[protocol.Fact], up_to: int) -> list[protocol.Fact]:
    """The facts that follow `up_to` without a gap, each number once."""
    found: list[protocol.Fact] = []
    for fact in facts:
        if fact.sequence == up_to + len(found) + 1:
            found.append(fact)
        elif fact.sequence > up_to + len(found):
            break
    return found


def _known(machine: VerifiedMachine, bridge: Bridge, facts: Sequence[protocol.Fact]) -> Known:
    """All that these facts may touch, robots locked in one order for everybody."""
    robots = _robots(machine, bridge, {fact.subject for fact in facts})
    bodies = [fact.body for fact in facts]
    about = (protocol.EpisodeStarted, protocol.EpisodeEnded, protocol.ActionRefused)
    named = {body.episode for body in bodies if isinstance(body, about) and body.episode is not None}
    running = {row.id: row.episode_id for row in robots if row.episode_id is not None}
    episodes = Episode.objects.filter(id__in=named | set(running.values())).only("id", "robot", "outcome", "is_superseded")
    ordered = {body.order for body in bodies if isinstance(body, protocol.OrderDone)}
    orders = Order.objects.filter(id__in=ordered).only("id", "robot", "done_at") if ordered else ()
    return Known(
        robots={subject_name(row.id): state_of(row) for row in robots},
        episodes={row.id: EpisodeState(row.id, row.robot_id, bool(row.outcome), row.is_superseded) for row in episodes},
        running=running,
        orders={row.id: OrderState(row.id, row.robot_id, row.done_at is not None) for row in orders},
    )


def _robots(machine: VerifiedMachine, bridge: Bridge, subjects: set[str]) -> list[Robot]:
    """Robots of the site bound to this bridge, of those that its credential may speak for."""
    names = {subject: subject.partition(":")[2] for subject in subjects & set(machine.subjects)}
    rows = Robot.objects.select_for_update(no_key=True, of=("self",)).select_related("bridge")
    found = rows.filter(site_id=machine.site_id, bridge=bridge, id__in=list(names.values())).order_by("id")
    return [row for row in found if subject_name(row.id) in names]


def _record(act: Operation, machine: VerifiedMachine, payloads: Sequence[events.FromBridge]) -> None:
    """Append each fact to its stream, and tell control what robots said of Stops, in the same transaction."""
    by_stream: dict[str, list[Payload]] = {}
    for payload in payloads:
        by_stream.setdefault(_stream_of(payload), []).append(payload)
    of_stops = [payload for payload in payloads if isinstance(payload, OF_STOPS)]
    # The stream of the site's Stops too, before the first append: all of a transaction's streams are locked at once.
    act.lock(*by_stream, *([site_stops(machine.site_id)] if of_stops else []))
    for stream, facts in by_stream.items():
        act.append(stream, facts, site_id=machine.site_id)
    projections.apply_payloads(payloads)
    for kind, run in groupby(of_stops, key=type):  # in the order said: one Stop may latch, be released, and latch again
        _tell_control(act, machine.site_id, kind, list(run))


def _tell_control(act: Operation, site_id: UUID, kind: type, run: Sequence[Any]) -> None:
    if kind is events.StopLatched:
        latched = [
            Confirmation(one.stop_id, _subject(one, site_id), _time_of(one.received_ms), _time_of(one.ended_ms)) for one in run
        ]
        control.confirm_stops(actor=act.actor, site_id=site_id, said=latched)
    else:
        released = [Release(one.stop_id, _subject(one, site_id), _time_of(one.device_ms)) for one in run]
        control.release_stops(actor=act.actor, site_id=site_id, said=released)


def _subject(fact: events.StopLatched | events.StopReleased, site_id: UUID) -> SubjectRef:
    return SubjectRef(ROBOT, fact.robot_id, site_id=site_id)


def _time_of(milliseconds: int) -> datetime:
    """A time by a bridge's clock; `decide_fact` kept it within what can be written."""
    return datetime.fromtimestamp(milliseconds / 1000, UTC)


def _stream_of(payload: events.FromBridge) -> str:
    robot_id = getattr(payload, "robot_id", None)
    return events.bridge_stream(payload.bridge_id) if robot_id is None else events.robot_stream(robot_id)
