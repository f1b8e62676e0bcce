"""Reads of robots: the list, one of them, its log."""

from collections import Counter
from collections.abc import Collection
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import Case, Exists, OuterRef, Q, SmallIntegerField, Value, When

from apps.fleet.events import robot_stream
from apps.fleet.models import Bridge, Episode, Order, Robot
from apps.fleet.selectors.bridges import bridge_seen
from apps.fleet.selectors.episodes import episode_seen
from apps.fleet.selectors.floor import SAVED_STALE_AFTER, floor_robot, floor_rows
from apps.fleet.types import FloorRobot, Need, OpenOrder, RobotDetail
from apps.journal import selectors as journal
from apps.journal.types import Recorded
from apps.kernel import clock
from apps.kernel.errors import NotFound
from apps.kernel.filters import Filter, Listing, Parameters, Sort, boolean, choice, identifier, whole
from apps.kernel.pagination import Page
from workers.protocol import Mode

LAST_EPISODES, COUNTED_EPISODES = 10, 100
_NEEDS = {need.name.lower(): need for need in Need}
ROBOTS = Listing(
    filters=(
        Filter("name", "name__icontains", meaning="Part of the name."),
        Filter("kind", "kind", meaning="Exactly this kind."),
        Filter("need", "need", lambda word: _NEEDS[choice(_NEEDS)(word)], "In this state."),
        Filter("bridge", "bridge_id", identifier, "Bound to this bridge."),
        Filter("is_simulated", "is_simulated", boolean, "Simulated, or real."),
    ),
    sorts={"need": Sort("need", whole), "name": Sort("name"), "age": Sort("id", identifier)},
    default_sort="need",
)


def robots_page(site_id: UUID, parameters: Parameters, *, now: datetime | None = None) -> Page[FloorRobot]:
    """Robots of a site as the parameters ask, those that need somebody first. Two queries. Raises Invalid."""
    at = now or clock.now()
    page = ROBOTS.page(with_need(Robot.objects.filter(site_id=site_id), at), parameters)
    rows = {row["id"]: row for row in floor_rows(Robot.objects.filter(id__in=[row.id for row in page.rows]))}
    return Page([floor_robot(rows[row.id], at) for row in page.rows], page.next_cursor)


def with_need(rows: Any, now: datetime) -> Any:
    """Robots with `need` as the database sees it: `lifecycle.need_of` in SQL, held equal by a test."""
    connected = Bridge.objects.filter(id=OuterRef("bridge_id"), connected_at__isnull=False, lost_at=None)
    rows = rows.annotate(is_connected=Exists(connected))
    heard = Q(is_connected=True, report__received_at__gte=now - SAVED_STALE_AFTER)
    by_mode = {
        Mode.STOPPED: Need.STOPPED,
        Mode.HOLD: Need.HOLD,
        Mode.RESETTING: Need.RESETTING,
        Mode.HUMAN: Need.HUMAN,
        Mode.AUTONOMOUS: Need.NONE,
    }
    return rows.annotate(
        need=Case(
            When(bridge_id=None, then=Value(Need.NEVER.value)),
            When(~Q(needs_reset=""), then=Value(Need.RESET.value)),
            When(is_connected=True, report__mode=Mode.FAULT.value, then=Value(Need.FAULT.value)),
            When(~heard, then=Value(Need.LOST.value)),
            *(When(report__mode=mode.value, then=Value(need.value)) for mode, need in by_mode.items()),
            default=Value(Need.LOST.value),
            output_field=SmallIntegerField(),
        )
    )


def robot_detail(site_id: UUID, robot_id: UUID, *, now: datetime | None = None) -> RobotDetail:
    """One robot of one site with its episodes, its open orders and its bridge. Five queries. Raises NotFound."""
    at = now or clock.now()
    columns = floor_rows(Robot.objects.filter(id=robot_id, site_id=site_id)).first()
    if columns is None:
        raise NotFound("There is nothing here.")
    robot = Robot.objects.select_related("bridge", "contested_by", "report").get(id=robot_id)
    newest = Episode.objects.filter(robot_id=robot_id).select_related("robot").order_by("-started_at", "-id")
    episodes = [episode_seen(row) for row in newest[:LAST_EPISODES]]
    ended = Episode.objects.filter(robot_id=robot_id).exclude(outcome="").order_by("-started_at", "-id")
    outcomes = Counter(ended.values_list("outcome", flat=True)[:COUNTED_EPISODES])
    orders = Order.objects.filter(robot_id=robot_id, done_at=None, valid_until__gt=at).order_by("id")
    report = getattr(robot, "report", None)
    return RobotDetail(
        robot=floor_robot(columns, at),
        site_id=site_id,
        version=robot.version,
        channels=robot.channels,
        report=report.body if report else {},
        device_ms=report.device_ms if report else None,
        registered_at=robot.registered_at,
        bridge=bridge_seen(robot.bridge) if robot.bridge else None,
        bound_at=robot.bound_at,
        contested_by=robot.contested_by.name if robot.contested_by else "",
        episode=next((one for one in episodes if one.id == robot.episode_id), None),
        episodes=episodes,
        outcomes=dict(outcomes),  # a template that asks a Counter for `.values` gets the count of that word
        orders=[OpenOrder(one.id, one.robot_id, one.name, one.arguments, one.valid_until) for one in orders],
    )


def robot_log(site_id: UUID, robot_id: UUID, parameters: Parameters) -> Page[Recorded]:
    """Facts of one robot, newest first, narrowed as the journal's list is, but for the stream. Raises NotFound, Invalid."""
    if not Robot.objects.filter(id=robot_id, site_id=site_id).exists():
        raise NotFound("There is nothing here.")
    return journal.stream_page(robot_stream(robot_id), parameters)


def newest_facts(robot_id: UUID, *, most: int = 12) -> list[Recorded]:
    """The newest facts of one robot, of a site that was judged. One query."""
    return journal.newest_events(robot_stream(robot_id), most=most)


def names_of_robots(robot_ids: Collection[UUID]) -> dict[UUID, str]:
    """Names of these robots. One query."""
    return dict(Robot.objects.filter(id__in=robot_ids).values_list("id", "name"))


def simulated_robots(site_id: UUID) -> list[FloorRobot]:
    """The simulated robots of a site by name, five hundred at most. One query."""
    rows = floor_rows(Robot.objects.filter(site_id=site_id, is_simulated=True).order_by("name", "id"))
    now = clock.now()
    return [floor_robot(row, now) for row in rows[:500]]
