"""Robots, who may speak for them, bridges and orders: facts that come one at a time, but for those of a hello."""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import msgspec

from apps.fleet import events
from apps.fleet.models import Bridge, Order, Robot
from apps.fleet.projections.columns import write_columns
from apps.journal.types import Payload

_BIND = """
UPDATE fleet_robot AS kept SET bridge_id = one.bridge, bound_at = one.at, version = one.version
FROM unnest(%s::uuid[], %s::uuid[], %s::timestamptz[], %s::bigint[]) AS one (id, bridge, at, version) WHERE kept.id = one.id
"""
_DESCRIBE = """
UPDATE fleet_robot AS kept SET channels = one.channels, cameras = one.cameras
FROM unnest(%s::uuid[], %s::jsonb[], %s::jsonb[]) AS one (id, channels, cameras) WHERE kept.id = one.id
"""
Event = TypeVar("Event", bound=Payload)
APPLIERS: dict[type[Payload], Callable[[Any], None]] = {}


def _on(kind: type[Event]) -> Callable[[Callable[[Event], None]], Callable[[Event], None]]:
    def keep(apply_one: Callable[[Event], None]) -> Callable[[Event], None]:
        APPLIERS[kind] = apply_one
        return apply_one

    return keep


def apply_hello(facts: Sequence[events.RobotBound | events.RobotDescribed]) -> None:
    """Project what one hello says of any number of robots, each at most once: two statements."""
    bound = [fact for fact in facts if isinstance(fact, events.RobotBound)]
    write_columns(_BIND, [(one.robot_id, one.bridge_id, one.bound_at, one.version) for one in bound])
    described = [fact for fact in facts if isinstance(fact, events.RobotDescribed)]
    write_columns(_DESCRIBE, [(one.robot_id, _json(one.channels), _json(one.cameras)) for one in described])


def _json(value: object) -> str:
    return msgspec.json.encode(value).decode()


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
