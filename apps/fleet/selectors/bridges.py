"""Reads of bridges and gateways, and what a gateway asks again and again."""

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from django.db.models.functions import Now

from apps.fleet.models import Bridge, GatewayNode, Order, Robot
from apps.fleet.types import BridgeSeen, OpenOrder, SiteSubject
from apps.kernel.errors import NotFound


def bridges_of(site_id: UUID) -> list[BridgeSeen]:
    """Every bridge that ever connected at a site, by name."""
    return [bridge_seen(row) for row in Bridge.objects.filter(site_id=site_id).order_by("name")]


def bridge_seen(row: Bridge) -> BridgeSeen:
    """A row as the type that leaves fleet."""
    return BridgeSeen(row.id, row.name, row.epoch, row.gateway, row.software, row.connected_at, row.lost_at)


def bridge_epochs(bridge_ids: Sequence[UUID]) -> dict[UUID, int]:
    """The newest epoch of each bridge: a connection with an older one is to be closed. One query."""
    return dict(Bridge.objects.filter(id__in=bridge_ids).values_list("id", "epoch"))


def subjects_of_site(site_id: UUID) -> list[SiteSubject]:
    """Every robot of a site by name, with what browsers must know to show its values. One query."""
    rows = Robot.objects.filter(site_id=site_id).select_related("bridge").order_by("name", "id")
    return [
        SiteSubject(
            id=row.id,
            name=row.name,
            kind=row.kind,
            is_simulated=row.is_simulated,
            channels=row.channels,
            cameras=row.cameras,
            bridge=row.bridge.name if row.bridge else "",
            gateway=row.bridge.gateway if row.bridge and row.bridge.lost_at is None else "",
        )
        for row in rows
    ]


def connected_to(gateway: str) -> dict[UUID, tuple[UUID, int]]:
    """Bridges that are recorded as connected to a gateway: the site and the epoch of each. One query."""
    rows = Bridge.objects.filter(gateway=gateway, lost_at=None, connected_at__isnull=False)
    return {row_id: (site_id, epoch) for row_id, site_id, epoch in rows.values_list("id", "site_id", "epoch")}


def open_orders(robot_ids: Sequence[UUID], *, now: datetime | None = None) -> list[OpenOrder]:
    """Orders to these robots that are neither done nor too late by the database's clock, oldest first. One query."""
    rows = Order.objects.filter(robot_id__in=robot_ids, done_at=None, valid_until__gt=now or Now()).order_by("id")
    return [OpenOrder(row.id, row.robot_id, row.name, row.arguments, row.valid_until) for row in rows[:1000]]


def order_of_site(site_id: UUID, order_id: UUID) -> Order:
    """One order to a robot of one site. Raises NotFound."""
    found = Order.objects.filter(site_id=site_id, id=order_id).first()
    if found is None:
        raise NotFound("There is nothing here.")
    return found


def gateways() -> list[tuple[str, datetime]]:
    """Every gateway by name, and when it last said that it lives."""
    return list(GatewayNode.objects.order_by("name").values_list("name", "seen_at"))
