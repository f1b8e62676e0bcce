"""What may be asked of a robot."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

from apps.fleet import events
from apps.fleet.lifecycle.robots import RobotState
from apps.fleet.types import CLEAR, FAULTS, INJECT, ORDER_LIFE, RESET
from apps.kernel.errors import Conflict, Invalid, NotAllowed

LONGEST_FAULT_S = 600


def decide_order(
    robot: RobotState,
    *,
    order_id: UUID,
    is_site_simulated: bool,
    name: str,
    arguments: Mapping[str, Any],
    placed_by: UUID | None,
    now: datetime,
) -> events.OrderPlaced:
    """Ask a connected robot for something, at once or never. Raises NotAllowed, Invalid, Conflict."""
    if name in {INJECT, CLEAR}:
        if not (is_site_simulated and robot.is_simulated):
            raise NotAllowed("Faults are injected at simulated sites only.", code="not_simulated")
        arguments = _fault_arguments(name, arguments)
    elif name != RESET or arguments:
        raise Invalid("There is no such order.", fields={"name": ["Give reset_scene, inject_fault or clear_fault."]})
    if not robot.is_connected:
        raise Conflict("The robot's bridge is not connected, and nothing is kept for later.", code="not_connected")
    return events.OrderPlaced(
        order_id=order_id,
        robot_id=robot.id,
        site_id=robot.site_id,
        name=name,
        arguments=dict(arguments),
        placed_by=placed_by,
        placed_at=now,
        valid_until=now + ORDER_LIFE,
    )


def _fault_arguments(order: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The fault and how long it lasts. Raises Invalid."""
    wrong: dict[str, list[str]] = {}
    fault, seconds = arguments.get("name"), arguments.get("seconds", 0)
    if not isinstance(fault, str) or (fault not in FAULTS and not (order == CLEAR and fault == "all")):
        wrong["name"] = [f"Give one of {', '.join(FAULTS)}."]
    if isinstance(seconds, bool) or not isinstance(seconds, int | float) or not 0 <= seconds <= LONGEST_FAULT_S:
        wrong["seconds"] = [f"Give 0 to {LONGEST_FAULT_S} seconds; 0 lasts until it is cleared."]
    unknown = set(arguments) - {"name", "seconds"}
    if unknown:
        wrong["arguments"] = ["Give name and seconds only."]
    if wrong:
        raise Invalid("The fault is wrong.", fields=wrong)
    return {"name": fault} if order == CLEAR else {"name": fault, "seconds": seconds}
