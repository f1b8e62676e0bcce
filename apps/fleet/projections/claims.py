"""Robots, who may speak for them, bridges and orders: facts that come one at a time."""

from collections.abc import Callable
from typing import Any, TypeVar

from apps.fleet import events
from apps.fleet.models import Bridge, Order, Robot
from apps.journal.types import Payload

Event = TypeVar("Event", bound=Payload)
APPLIERS: dict[type[Payload], Callable[[Any], None]] = {}


def _on(kind: type[Event]) -> Callable[[Callable[[Event], None]], Callable[[Event], None]]:
    def keep(apply_one: Callable[[Event], None]) -> Callable[[Event], None]:
        APPLIERS[kind] = apply_one
        return apply_one

    return keep


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
