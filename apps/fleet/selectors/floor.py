"""All robots of a site at once: one query, however many there are."""

from collections import Counter
from collections.abc import Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import F

from apps.fleet.lifecycle import need_of
from apps.fleet.models import Robot
from apps.fleet.types import STALE_AFTER, Floor, FloorRobot, Need
from apps.kernel import clock

# Plain tuples: a thousand model instances with their reports take longer to build than the page may take altogether.
_COLUMNS = (
    *("id", "name", "kind", "is_simulated", "needs_reset", "channels", "cameras", "bridge_id"),
    *("bridge__name", "bridge__connected_at", "bridge__lost_at"),
    *("report__mode", "report__received_at", "report__body"),
)


def floor_page(site_id: UUID, *, now: datetime | None = None) -> Floor:
    """Every robot of a site, those that need somebody first, and how many are in each state. One query."""
    at = now or clock.now()
    robots = [floor_robot(row, at) for row in floor_rows(Robot.objects.filter(site_id=site_id).order_by("name", "id"))]
    robots.sort(key=lambda robot: robot.need)  # stable: by name within one need
    counts = Counter(robot.need for robot in robots)
    return Floor(robots, {need: counts[need] for need in Need if counts[need]})


def floor_rows(rows: Any) -> Any:
    """The columns of `floor_robot`, by name."""
    return rows.values(*_COLUMNS, contested=F("contested_by__name"))


def floor_robot(row: Mapping[str, Any], now: datetime) -> FloorRobot:
    """One robot as lists show it, from its columns."""
    body: Mapping[str, Any] = row["report__body"] or {}
    is_connected = row["bridge__connected_at"] is not None and row["bridge__lost_at"] is None
    heard: datetime | None = row["report__received_at"]
    need = need_of(
        mode=row["report__mode"] or "",
        needs_reset=bool(row["needs_reset"]),
        is_connected=is_connected,
        is_bound=row["bridge_id"] is not None,
        is_fresh=heard is not None and now - heard <= SAVED_STALE_AFTER,
    )
    return FloorRobot(
        id=row["id"],
        name=row["name"],
        kind=row["kind"],
        is_simulated=row["is_simulated"],
        need=need,
        mode=row["report__mode"] or "",
        driver=str(body.get("driver", "")),
        task=str(body.get("task", "")),
        activity=str(body.get("activity", "")),
        skill=str(body.get("skill", "")),
        reason=row["needs_reset"],
        bridge=row["bridge__name"] or "",
        is_connected=is_connected,
        received_at=heard,
        headlines=tuple(one for one in row["channels"] if one.get("headline")),
        cameras=tuple(row["cameras"]),
        faults=tuple(body.get("faults", ())),
    )


# Reports come every two seconds and are saved every two: what a page reads may be four seconds old and yet be live.
SAVED_STALE_AFTER = STALE_AFTER + 2 * STALE_AFTER
