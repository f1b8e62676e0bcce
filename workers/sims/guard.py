"""The action guard: what no driver may ask of an arm, be it the expert or a policy. It stands between them and the motors."""

import math
from collections.abc import Sequence

FASTEST_STEP_M = 0.02  # a control step of 0.1 s: 0.2 m/s along each axis
ACTION_SIZE = 4  # x, y, z as parts of the fastest step, then the gripper (below 0 close, else open)
LOWEST, HIGHEST = (0.16, -0.34, 0.012), (0.52, 0.34, 0.34)  # metres: where the tip may be
SLACK_M = FASTEST_STEP_M * 1.5  # the wall itself stops what pushes at it; only what leaps through it is refused
_TOO_FAST = 1.05


def refusal(action: Sequence[float], tip: Sequence[float]) -> str:
    """Why this action must not be carried out from this commanded tip (m), in words for people; empty when it may be."""
    if len(action) != ACTION_SIZE:
        return f"action has {len(action)} numbers, not {ACTION_SIZE}"
    if not all(math.isfinite(part) for part in action):
        return "action is not a finite number"
    for axis, part, place, low, high in zip("xyz", action, tip, LOWEST, HIGHEST, strict=False):
        goal = place + part * FASTEST_STEP_M
        if goal < low - SLACK_M or goal > high + SLACK_M:
            return f"action leaves the workspace along {axis}, to {goal * 1000:.0f} mm"
    fastest = max(abs(part) for part in action[:3])
    if fastest > _TOO_FAST:
        return f"action is {fastest:.1f} times as fast as allowed"
    return ""


def carried_out(action: Sequence[float], tip: Sequence[float]) -> tuple[float, float, float]:
    """Where an allowed action takes the commanded tip (m), stopped at the walls of the workspace."""
    x, y, z = (
        max(low, min(high, place + part * FASTEST_STEP_M))
        for part, place, low, high in zip(action, tip, LOWEST, HIGHEST, strict=False)
    )
    return x, y, z
