"""The only writer of the tables of fleet. Applying events in the order of their positions gives the tables, from empty too.

Applying an event twice leaves the same row. RobotReport and GatewayNode are outside: they are no facts.
"""

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from typing import Any, TypeVar, cast
from uuid import UUID

import msgspec
from django.db import connection

from apps.fleet import events
from apps.fleet.models import Bridge, Episode, GatewayNode, Order, Robot
from apps.fleet.types import LastReport
from apps.journal.events import decode
from apps.journal.types import Payload, Recorded
from workers.protocol import Outcome

Event = TypeVar("Event", bound=Payload)
NEVER_ENDED = "The bridge began another episode without ending this one."
# Each projected table with its columns that are no facts: the cursor's own number says nothing.
TABLES = {
    "fleet_bridge": frozenset[str](),
    "fleet_boot_cursor": frozenset({"id"}),
    "fleet_robot": frozenset[str](),
    "fleet_episode": frozenset[str](),
    "fleet_order": frozenset[str](),
}
_APPLIERS: dict[type[Payload], Callable[[Any], None]] = {}


def _on(kind: type[Event]) -> Callable[[Callable[[Event], None]], Callable[[Event], None]]:
    def keep(apply_one: Callable[[Event], None]) -> Callable[[Event], None]:
        _APPLIERS[kind] = apply_one
        return apply_one

    return keep


def apply_payloads(payloads: Iterable[Payload]) -> None:
    """Project facts that were just appended, in the same transaction."""
    taken: dict[tuple[UUID, UUID], events.FromBridge] = {}
    for payload in payloads:
        applier = _APPLIERS.get(type(payload))
        if applier is not None:
            applier(payload)
        if isinstance(payload, events.FromBridge):
            taken[payload.bridge_id, payload.boot] = payload
    for fact in taken.values():
        _move_cursor(fact)


def apply_recorded(recorded: Recorded) -> bool:
    """Project one stored event, for a rebuild; False when it is none of ours."""
    if not recorded.type.startswith("fleet."):
        return False
    apply_payloads([decode(recorded.type, recorded.version, cast("dict[str, Any]", recorded.payload))])
    return True


_CURSOR = """
INSERT INTO fleet_boot_cursor (bridge_id, boot, sequence, taken_at) VALUES (%s, %s, %s, %s)
ON CONFLICT (bridge_id, boot) DO UPDATE SET sequence = EXCLUDED.sequence, taken_at = EXCLUDED.taken_at
WHERE fleet_boot_cursor.sequence < EXCLUDED.sequence
"""


def _move_cursor(fact: events.FromBridge) -> None:
    with connection.cursor() as cursor:
        cursor.execute(_CURSOR, [fact.bridge_id, fact.boot, fact.sequence, fact.received_at])


_REPORTS = """
INSERT INTO fleet_robot_report AS kept (robot_id, boot, sequence, device_ms, received_at, mode, body)
SELECT one.* FROM unnest(%s::uuid[], %s::uuid[], %s::bigint[], %s::bigint[], %s::timestamptz[], %s::text[], %s::jsonb[])
    AS one (robot_id, boot, sequence, device_ms, received_at, mode, body)
WHERE EXISTS (SELECT FROM fleet_robot robot WHERE robot.id = one.robot_id)
ORDER BY one.robot_id
ON CONFLICT (robot_id) DO UPDATE SET boot = EXCLUDED.boot, sequence = EXCLUDED.sequence, device_ms = EXCLUDED.device_ms,
    received_at = EXCLUDED.received_at, mode = EXCLUDED.mode, body = EXCLUDED.body
WHERE kept.received_at < EXCLUDED.received_at
"""


def keep_reports(reports: Sequence[LastReport]) -> int:
    """Replace older reports by these, in one statement, and say how many were newer than what was kept."""
    columns = zip(
        *(
            (
                one.robot_id,
                one.boot,
                one.sequence,
                one.device_ms,
                one.received_at,
                str(one.body.get("mode", ""))[:20],
                msgspec.json.encode(one.body).decode(),
            )
            for one in reports
        ),
        strict=True,
    )
    with connection.cursor() as cursor:
        cursor.execute(_REPORTS, [list(column) for column in columns])
        return int(cursor.rowcount)


def note_gateway(name: str, at: datetime) -> None:
    """When a gateway last said that it lives."""
    GatewayNode.objects.update_or_create(name=name, defaults={"seen_at": at})


@_on(events.RobotRegistered)
def _registered(fact: events.RobotRegistered) -> None:
    values = {
        "site_id": fact.site_id,
        "name": fact.name,
        "kind": fact.kind,
        "is_simulated": fact.is_simulated,
        "registered_at": fact.registered_at,
        "registered_by": fact.registered_by,
    }
    Robot.objects.update_or_create(id=fact.robot_id, defaults=values)


@_on(events.RobotBound)
def _bound(fact: events.RobotBound) -> None:
    Robot.objects.filter(id=fact.robot_id).update(bridge_id=fact.bridge_id, bound_at=fact.bound_at, version=fact.version)


@_on(events.RobotDescribed)
def _described(fact: events.RobotDescribed) -> None:
    Robot.objects.filter(id=fact.robot_id).update(channels=fact.channels, cameras=fact.cameras)


@_on(events.RobotReleased)
def _released(fact: events.RobotReleased) -> None:
    values = {"bridge_id": None, "bound_at": None, "contested_by": None, "contested_at": None, "version": fact.version}
    Robot.objects.filter(id=fact.robot_id).update(**values)


@_on(events.ClaimRefused)
def _claim_refused(fact: events.ClaimRefused) -> None:
    Robot.objects.filter(id=fact.robot_id).update(contested_by=fact.bridge_id, contested_at=fact.refused_at)


@_on(events.ClaimWithdrawn)
def _claim_withdrawn(fact: events.ClaimWithdrawn) -> None:
    contested = Robot.objects.filter(id=fact.robot_id, contested_by=fact.bridge_id)
    contested.update(contested_by=None, contested_at=None)


@_on(events.BridgeConnected)
def _connected(fact: events.BridgeConnected) -> None:
    values = {
        "site_id": fact.site_id,
        "name": fact.name,
        "credential_id": fact.credential_id,
        "epoch": fact.epoch,
        "boot": fact.boot,
        "gateway": fact.gateway,
        "software": fact.software,
        "connected_at": fact.connected_at,
        "lost_at": None,
    }
    Bridge.objects.update_or_create(id=fact.bridge_id, defaults=values)


@_on(events.BridgeLost)
def _lost(fact: events.BridgeLost) -> None:
    Bridge.objects.filter(id=fact.bridge_id, epoch=fact.epoch).update(lost_at=fact.lost_at)


@_on(events.EpisodeStarted)
def _episode_started(fact: events.EpisodeStarted) -> None:
    if fact.supersedes is not None:
        left = Episode.objects.filter(id=fact.supersedes, outcome="")
        outcome = {"outcome": Outcome.ABORTED.value, "reason": NEVER_ENDED, "is_superseded": True}
        left.update(ended_at=fact.received_at, **outcome)
    values = {
        "site_id": fact.site_id,
        "robot_id": fact.robot_id,
        "bridge_id": fact.bridge_id,
        "boot": fact.boot,
        "task": fact.task,
        "driver": fact.driver,
        "skill": fact.skill,
        "seed": fact.seed,
        "started_at": fact.received_at,
        "device_ms": fact.device_ms,
    }
    Episode.objects.update_or_create(id=fact.episode_id, defaults=values)
    Robot.objects.filter(id=fact.robot_id).update(episode_id=fact.episode_id)


@_on(events.EpisodeEnded)
def _episode_ended(fact: events.EpisodeEnded) -> None:
    Episode.objects.filter(id=fact.episode_id).update(
        ended_at=fact.received_at,
        ended_device_ms=fact.device_ms,
        outcome=fact.outcome,
        steps=fact.steps,
        reason=fact.reason,
        is_superseded=False,
    )
    Robot.objects.filter(id=fact.robot_id, episode_id=fact.episode_id).update(episode_id=None)


@_on(events.ActionRefused)
def _action_refused(fact: events.ActionRefused) -> None:
    if fact.episode_id is not None:
        Episode.objects.filter(id=fact.episode_id).update(refusal=fact.reason)


@_on(events.NeedsReset)
def _needs_reset(fact: events.NeedsReset) -> None:
    Robot.objects.filter(id=fact.robot_id).update(needs_reset=fact.reason, needs_reset_at=fact.received_at)


@_on(events.WasReset)
def _was_reset(fact: events.WasReset) -> None:
    Robot.objects.filter(id=fact.robot_id).update(needs_reset="", needs_reset_at=None)


@_on(events.OrderPlaced)
def _order_placed(fact: events.OrderPlaced) -> None:
    values = {
        "site_id": fact.site_id,
        "robot_id": fact.robot_id,
        "name": fact.name,
        "arguments": fact.arguments,
        "placed_by": fact.placed_by,
        "placed_at": fact.placed_at,
        "valid_until": fact.valid_until,
    }
    Order.objects.update_or_create(id=fact.order_id, defaults=values)


@_on(events.OrderDone)
def _order_done(fact: events.OrderDone) -> None:
    values = {"done_at": fact.received_at, "succeeded": fact.succeeded, "detail": fact.detail}
    Order.objects.filter(id=fact.order_id).update(**values)
