"""Bridges connect, claim robots and go. One connection of a bridge holds at a time: its epoch fences all older ones."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from uuid import UUID

from django.db.models import Q
from django.db.models.functions import Now

from apps.accounts import selectors as accounts
from apps.accounts.types import VerifiedMachine
from apps.fleet import events, projections
from apps.fleet.lifecycle import Claimed, RobotState, clean_values, clean_words, decide_claim
from apps.fleet.models import BootCursor, Bridge, GatewayNode, Robot
from apps.fleet.services.robots import state_of
from apps.fleet.types import GATEWAY_SILENT_AFTER, ROBOT, Claim, ClaimedRobot, LastReport, subject_name
from apps.journal.services import Operation, operation
from apps.journal.types import Payload
from apps.kernel import clock
from apps.kernel.errors import NotFound, NotSignedIn, Stale
from apps.kernel.ids import new_id, parse_id
from apps.kernel.permissions import require
from apps.kernel.types import Actor, SubjectRef
from workers.protocol import Hello, Resume

BOOTS_RESUMED = 50  # older ones are asked for from their start, and taken again as nothing


def claim_bridge(*, machine: VerifiedMachine, hello: Hello, gateway: str) -> Claim:
    """Let a bridge speak for the robots that its hello names, as far as nobody else does.

    A robot belongs to the bridge that claims it first, until somebody releases it. Each call makes a new epoch: what comes
    with an older one is refused from the moment this returns. Raises NotSignedIn, NotFound.
    """
    with operation(machine.actor, "fleet.claim_bridge") as act:
        site = SubjectRef("site", machine.site_id, site_id=machine.site_id)
        require(machine.actor, "fleet.speak", site)
        if hello.bridge != machine.actor.name:
            raise NotFound("The credential is bound to another bridge.")
        require_credential(machine)
        bridge = _locked_bridge(machine, hello)
        robots = _robots_in_question(machine, bridge, hello.subjects)
        described = {one.subject: one for one in hello.described}
        now = clock.shared()  # whoever judges later how long ago that was has another clock
        claimed = {
            subject: decide_claim(
                subject,
                robots.get(subject),
                described.get(subject),
                bridge_id=bridge.id,
                bridge_name=bridge.name,
                may_speak_for=machine.subjects,
                now=now,
            )
            for subject in dict.fromkeys(hello.subjects)
        }
        accepted = [one.robot for one in claimed.values() if one.refused is None and one.robot is not None]
        connected = events.BridgeConnected(
            bridge_id=bridge.id,
            site_id=machine.site_id,
            name=bridge.name,
            epoch=bridge.epoch + 1,
            boot=hello.boot,
            gateway=gateway[:100],
            software=clean_words(hello.software, 100),
            credential_id=machine.credential_id,
            robots=len(accepted),
            connected_at=now,
        )
        _record(act, machine.site_id, connected, claimed, _withdrawn(bridge, robots, claimed, now))
        kept = Robot.objects.in_bulk([robot.id for robot in accepted])
        return Claim(
            bridge_id=bridge.id,
            site_id=machine.site_id,
            epoch=connected.epoch,
            accepted=tuple(robot.id for robot in accepted),
            robots=tuple(_claimed_robot(kept[robot.id]) for robot in accepted),
            refused=[one.refused for one in claimed.values() if one.refused is not None],
            resume=_resume(bridge),
        )


def require_credential(machine: VerifiedMachine) -> None:
    """Raise NotSignedIn unless the credential holds at this moment: it was checked when the socket opened."""
    if machine.credential_id not in accounts.machines_holding([machine.credential_id]):
        raise NotSignedIn("The credential no longer holds.", code="machine_revoked")


def _locked_bridge(machine: VerifiedMachine, hello: Hello) -> Bridge:
    """The bridge of this name, made at its first hello. Its lock orders all that its connections do."""
    values = {"id": new_id(), "credential_id": machine.credential_id}
    Bridge.objects.bulk_create([Bridge(site_id=machine.site_id, name=hello.bridge, **values)], ignore_conflicts=True)
    return Bridge.objects.select_for_update(no_key=True).get(site_id=machine.site_id, name=hello.bridge)


def _robots_in_question(machine: VerifiedMachine, bridge: Bridge, subjects: Sequence[str]) -> Mapping[str, RobotState]:
    """Robots of the machine's site that the hello names or this bridge once wanted, locked in one order for everybody."""
    asked = [one for subject in subjects if (one := parse_id(subject.removeprefix(f"{ROBOT}:")))]
    rows = Robot.objects.select_for_update(no_key=True, of=("self",)).select_related("bridge")
    found = rows.filter(Q(id__in=asked) | Q(contested_by=bridge), site_id=machine.site_id).order_by("id")
    return {subject_name(row.id): state_of(row) for row in found}


def _withdrawn(
    bridge: Bridge, robots: Mapping[str, RobotState], claimed: Mapping[str, Claimed], now: datetime
) -> list[events.ClaimWithdrawn]:
    """Robots this bridge wanted before and does not name any more."""
    left = [robot.id for name, robot in robots.items() if robot.contested_by == bridge.id and name not in claimed]
    return [events.ClaimWithdrawn(robot_id=robot_id, bridge_id=bridge.id, withdrawn_at=now) for robot_id in left]


def _record(
    act: Operation,
    site_id: UUID,
    connected: events.BridgeConnected,
    claimed: Mapping[str, Claimed],
    withdrawn: Sequence[events.ClaimWithdrawn],
) -> None:
    by_stream: dict[str, list[Payload]] = {events.bridge_stream(connected.bridge_id): [connected]}
    for one in claimed.values():
        if one.robot is not None and one.facts:
            by_stream.setdefault(events.robot_stream(one.robot.id), []).extend(one.facts)
    for fact in withdrawn:
        by_stream.setdefault(events.robot_stream(fact.robot_id), []).append(fact)
    act.lock(*by_stream)
    for stream, facts in by_stream.items():
        act.append(stream, facts, site_id=site_id)
    projections.apply_payloads(fact for facts in by_stream.values() for fact in facts)


def _claimed_robot(robot: Robot) -> ClaimedRobot:
    return ClaimedRobot(robot.id, robot.name, robot.kind, robot.is_simulated, tuple(robot.channels), tuple(robot.cameras))


def _resume(bridge: Bridge) -> list[Resume]:
    rows = BootCursor.objects.filter(bridge=bridge).order_by("-taken_at").values_list("boot", "sequence")
    return [Resume(boot=boot, sequence=sequence) for boot, sequence in rows[:BOOTS_RESUMED]]


def fenced(bridge_id: UUID, site_id: UUID, epoch: int) -> Bridge:
    """The bridge, locked, if this is its newest epoch. Raises NotFound, Stale."""
    bridge = Bridge.objects.select_for_update(no_key=True).filter(id=bridge_id, site_id=site_id).first()
    if bridge is None:
        raise NotFound("There is nothing here.")
    if bridge.epoch != epoch:
        raise Stale("A newer connection of this bridge holds.", code="epoch")
    return bridge


def release_bridge(*, actor: Actor, site_id: UUID, bridge_id: UUID, epoch: int, reason: str) -> bool:
    """Note that the connection of this epoch ended, and why; False when a newer one holds or it was noted before.

    Its robots stay bound to it. Called by the gateway that had the socket, or for one that is dead.
    """
    with operation(actor, "fleet.release_bridge") as act:
        require(actor, "fleet.watch_gateways", SubjectRef("site", site_id, site_id=site_id))
        try:
            bridge = fenced(bridge_id, site_id, epoch)
        except Stale:
            return False
        if bridge.lost_at is not None:
            return False
        fact = events.BridgeLost(bridge_id=bridge_id, epoch=epoch, reason=clean_words(reason), lost_at=clock.now())
        act.append(events.bridge_stream(bridge_id), [fact], site_id=site_id)
        projections.apply_payloads([fact])
        return True


def save_reports(reports: Sequence[LastReport]) -> int:
    """Keep what robots last said of themselves, for pages after a gateway went; one statement however many.

    Newest wins by receipt. Returns how many were newer than what was kept.
    """
    newest: dict[UUID, LastReport] = {}
    for report in reports:  # PostgreSQL refuses to touch one row twice in a statement
        if report.robot_id not in newest or newest[report.robot_id].received_at < report.received_at:
            newest[report.robot_id] = replace(report, body=clean_values(dict(report.body)))
    return projections.keep_reports(list(newest.values())) if newest else 0


def note_gateway(*, name: str) -> None:
    """Say that this gateway lives; called every two seconds."""
    projections.note_gateway(name[:100])


def release_bridges_of_silent_gateways(*, actor: Actor) -> list[UUID]:
    """Note the loss of every bridge whose gateway was not heard of for ten seconds; returns the bridges.

    Counted by the database's clock. A bridge of a gateway that nobody ever heard of is left alone for as long.
    """
    require(actor, "fleet.watch_gateways")
    known = GatewayNode.objects.values("name")
    alive = known.filter(seen_at__gte=Now() - GATEWAY_SILENT_AFTER)
    is_due = Q(gateway__in=known) | Q(connected_at__lt=clock.shared() - GATEWAY_SILENT_AFTER)
    left = Bridge.objects.filter(is_due, lost_at=None, connected_at__isnull=False).exclude(gateway__in=alive)
    lost = []
    for bridge in left.order_by("id"):
        reason = f"the gateway {bridge.gateway} is silent"
        if release_bridge(actor=actor, site_id=bridge.site_id, bridge_id=bridge.id, epoch=bridge.epoch, reason=reason):
            lost.append(bridge.id)
    return lost
