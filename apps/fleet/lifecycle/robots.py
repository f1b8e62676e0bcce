"""What a robot is, whether it needs somebody, and who may speak for it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from apps.fleet import events
from apps.fleet.lifecycle.words import clean_name
from apps.fleet.types import Need
from apps.kernel.errors import Conflict, Invalid, Stale
from workers.protocol import Mode

KIND_LENGTH = 50


def need_of(*, mode: str, needs_reset: bool, is_connected: bool, is_bound: bool, is_fresh: bool) -> Need:
    """How much a robot needs somebody, from its own report and from whether anything is heard of it."""
    if not is_bound:
        return Need.NEVER
    if needs_reset:
        return Need.RESET
    if mode == Mode.FAULT and is_connected:
        return Need.FAULT
    if not is_connected or not is_fresh:
        return Need.LOST
    by_mode = {
        Mode.STOPPED: Need.STOPPED,
        Mode.HOLD: Need.HOLD,
        Mode.RESETTING: Need.RESETTING,
        Mode.HUMAN: Need.HUMAN,
        Mode.AUTONOMOUS: Need.NONE,
    }
    return by_mode.get(Mode(mode), Need.LOST) if mode in set(Mode) else Need.LOST


@dataclass(frozen=True)
class RobotState:
    """What decisions need to know of a robot."""

    id: UUID
    site_id: UUID
    name: str
    kind: str
    is_simulated: bool
    version: int
    bridge_id: UUID | None = None
    contested_by: UUID | None = None
    channels: Sequence[Mapping[str, Any]] = ()
    cameras: Sequence[str] = ()
    is_connected: bool = False  # by the bridge that it is bound to


def decide_registration(
    *,
    robot_id: UUID,
    site_id: UUID,
    is_site_simulated: bool,
    name: str,
    kind: str,
    is_simulated: bool,
    registered_by: UUID | None,
    now: datetime,
) -> events.RobotRegistered:
    """Give a robot a name at a site. Raises Invalid."""
    name = clean_name(name)
    kind = clean_name(kind, field="kind", most=KIND_LENGTH)
    if is_site_simulated and not is_simulated:
        reason = "At a simulated site every robot is simulated."
        raise Invalid("The robot is wrong.", fields={"is_simulated": [reason]})
    return events.RobotRegistered(
        robot_id=robot_id,
        site_id=site_id,
        name=name,
        kind=kind,
        is_simulated=is_simulated,
        registered_by=registered_by,
        registered_at=now,
    )


def decide_release(robot: RobotState, *, expected: int | None, released_by: UUID | None, now: datetime) -> events.RobotReleased:
    """Take a robot from its bridge. Raises Stale, Conflict."""
    if expected is not None and expected != robot.version:
        raise Stale("Which bridge speaks for this robot changed since you looked. Nothing was done; look again.")
    if robot.bridge_id is None:
        raise Conflict("No bridge speaks for this robot.", code="not_bound")
    return events.RobotReleased(
        robot_id=robot.id,
        bridge_id=robot.bridge_id,
        released_by=released_by,
        released_at=now,
        version=robot.version + 1,
    )
