"""Take what must not be lost: the facts that a bridge keeps on its disk until they are committed here."""

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from apps.accounts.types import VerifiedMachine
from apps.fleet import events, projections
from apps.fleet.lifecycle import EpisodeState, Known, OrderState, decide_fact
from apps.fleet.models import BootCursor, Bridge, Episode, Order, Robot
from apps.fleet.services.bridges import fenced, require_credential
from apps.fleet.services.robots import state_of
from apps.fleet.types import subject_name
from apps.journal.services import Operation, operation
from apps.journal.types import Payload
from apps.kernel.permissions import require
from apps.kernel.types import SubjectRef
from workers import protocol


def take_facts(*, machine: VerifiedMachine, bridge_id: UUID, epoch: int, facts: protocol.Facts, received_at: datetime) -> int:
    """Record facts of one boot in one transaction, each exactly once, and return how far they are taken now.

    What was taken before is taken again as nothing; where numbers are missing, only what comes before the gap is taken.
    Everything up to the number returned is committed when this returns, and the bridge may forget it.
    Raises Stale for an epoch that is not the newest, NotFound, NotSignedIn.
    """
    with operation(machine.actor, "fleet.take_facts") as act:
        require(machine.actor, "fleet.speak", SubjectRef("site", machine.site_id, site_id=machine.site_id))
        bridge = fenced(bridge_id, machine.site_id, epoch)
        require_credential(machine)
        up_to = BootCursor.objects.filter(bridge=bridge, boot=facts.boot).values_list("sequence", flat=True).first() or 0
        new = _following(facts.facts, up_to)
        if not new:
            return up_to
        known = _known(machine, bridge, new)
        payloads = [
            decide_fact(fact, known, bridge_id=bridge_id, epoch=epoch, boot=facts.boot, received_at=received_at) for fact in new
        ]
        _record(act, machine.site_id, payloads)
        return new[-1].sequence


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


def _record(act: Operation, site_id: UUID, payloads: Sequence[events.FromBridge]) -> None:
    by_stream: dict[str, list[Payload]] = {}
    for payload in payloads:
        by_stream.setdefault(_stream_of(payload), []).append(payload)
    act.lock(*by_stream)
    for stream, facts in by_stream.items():
        act.append(stream, facts, site_id=site_id)
    projections.apply_payloads(payloads)


def _stream_of(payload: events.FromBridge) -> str:
    robot_id = getattr(payload, "robot_id", None)
    return events.bridge_stream(payload.bridge_id) if robot_id is None else events.robot_stream(robot_id)
