"""What no gateway is left to say: that a gateway itself is gone, and with it the bridges it heard.

Asked every few seconds by whoever looks around for alarms. It also ends what a gateway could not: a gateway that died after
it had said that a bridge is lost cannot say that the bridge came back elsewhere.
"""

from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta
from uuid import UUID

from django.db.models import DurationField, ExpressionWrapper, F
from django.db.models.functions import Now

from apps.accounts import selectors as accounts
from apps.alarms.selectors import holding
from apps.alarms.types import Condition
from apps.fleet.models import GatewayNode, Robot
from apps.fleet.services.bridges import release_bridges_of_silent_gateways
from apps.fleet.types import GATEWAY_SILENT_AFTER, ROBOT, gateway_id
from apps.kernel.types import SubjectRef, system_actor

FORGOTTEN_AFTER = timedelta(days=1)  # one that is not heard of for so long was taken away, not lost
SETTLED_AFTER = timedelta(seconds=3)  # its gateway says it sooner
_ACTOR = system_actor("fleet watch")


def watch_fleet(now: datetime) -> Iterable[Condition]:
    """Which gateways and bridges are lost, and which no longer are."""
    release_bridges_of_silent_gateways(actor=_ACTOR)
    yield from _gateways(now)
    yield from _bridges(now)


def _gateways(now: datetime) -> Iterator[Condition]:
    """Counted by the database's clock: those of the gateways may be wrong."""
    sites = accounts.every_site_id()
    silent = ExpressionWrapper(Now() - F("seen_at"), output_field=DurationField())
    for name, seen_at, silent_for in GatewayNode.objects.annotate(silent=silent).values_list("name", "seen_at", "silent"):
        lost = FORGOTTEN_AFTER > silent_for > GATEWAY_SILENT_AFTER
        for site_id in sites:
            subject = SubjectRef("gateway", gateway_id(name), site_id=site_id)
            yield Condition("gateway_lost", subject, active=lost, at=now, detail=f"not heard of since {seen_at:%H:%M:%S} UTC")


def _bridges(now: datetime) -> Iterator[Condition]:
    """Robots whose bridge is lost, and those of which that was said and is no longer so: two queries."""
    said = holding("bridge_lost")
    rows = Robot.objects.filter(bridge__lost_at__lte=now - SETTLED_AFTER).values_list(
        "id", "site_id", "bridge_id", "bridge__name", "bridge__lost_at"
    )
    lost = set()
    for robot_id, site_id, bridge_id, name, lost_at in rows:
        assert lost_at is not None  # noqa: S101 - the query asked for those
        lost.add((site_id, robot_id))
        cause = SubjectRef("bridge", bridge_id, site_id=site_id)
        yield Condition("bridge_lost", _robot(robot_id, site_id), active=True, at=lost_at, detail=name, cause=cause)
    over = {robot_id for site_id, robot_id in said if (site_id, robot_id) not in lost}
    connected = Robot.objects.filter(id__in=over).exclude(bridge__lost_at__isnull=False)
    for robot_id, site_id in connected.values_list("id", "site_id"):
        yield Condition("bridge_lost", _robot(robot_id, site_id), active=False, at=now)


def _robot(robot_id: UUID, site_id: UUID) -> SubjectRef:
    return SubjectRef(ROBOT, robot_id, site_id=site_id)
