"""A scripted expert: it sees what is true of the scene and needs no memory. Its actions are what the policy is taught from."""

import math

from workers.sims.bench import HOME, Sight
from workers.sims.guard import FASTEST_STEP_M
from workers.sims.task import holds, in_zone

NAME = "scripted expert"
Action = tuple[float, float, float, float]
_CLEAR_M = 0.13  # above this nothing stands in the way
_OPEN, _CLOSE = 1.0, -1.0


def expert_action(sight: Sight, half_height: float) -> Action:
    """What the expert does now, as parts of the fastest step along x, y and z, and the gripper."""
    grip_height = max(0.016, half_height * 2 - 0.022)
    if holds(sight):
        return _carry(sight, grip_height)
    if in_zone(sight) and sight.block[2] < half_height + 0.01:
        return _towards(sight, (sight.aimed[0], sight.aimed[1], _CLEAR_M + 0.05), _OPEN, still=sight.opening < 0.066)
    return _fetch(sight, grip_height)


def _fetch(sight: Sight, grip_height: float) -> Action:
    across = math.dist(sight.tip[:2], sight.block[:2])
    height = grip_height + min(_CLEAR_M, max(0.0, (across - 0.006) * 2.5))
    over = across < 0.010 and sight.tip[2] < grip_height + 0.008
    return _towards(sight, (sight.block[0], sight.block[1], height), _CLOSE if over else _OPEN, still=over)


def _carry(sight: Sight, grip_height: float) -> Action:
    # The block's own middle is brought to the zone, however it was gripped.
    goal = (sight.tip[0] + sight.zone[0] - sight.block[0], sight.tip[1] + sight.zone[1] - sight.block[1])
    across = math.dist(sight.tip[:2], goal)
    if sight.tip[2] < 0.06 and across > 0.08:
        return _towards(sight, (*sight.aimed[:2], _CLEAR_M), _CLOSE, still=False)
    height = grip_height + min(_CLEAR_M - 0.02, max(0.0, (across - 0.01) * 2.0))
    down = across < 0.012 and sight.tip[2] < grip_height + 0.008
    return _towards(sight, (*goal, height), _OPEN if down else _CLOSE, still=down)


def _towards(sight: Sight, goal: tuple[float, float, float], gripper: float, *, still: bool) -> Action:
    if still:
        return 0.0, 0.0, 0.0, gripper
    # Led by what was commanded, not by where the arm is: the arm follows a little behind.
    x, y, z = (max(-1.0, min(1.0, (want - have) / FASTEST_STEP_M * 0.6)) for want, have in zip(goal, sight.aimed, strict=True))
    return x, y, z, gripper


def home_action(sight: Sight) -> Action:
    """Back to where episodes begin: first up, then across, the gripper open."""
    x, y, z = HOME
    if sight.tip[2] < 0.14 and math.dist(sight.tip[:2], (x, y)) > 0.03:
        return _towards(sight, (*sight.aimed[:2], z), _OPEN, still=False)
    return _towards(sight, (x, y, z), _OPEN, still=False)
