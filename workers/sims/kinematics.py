"""Where the joints must be for the gripper to point straight down at a place, and how far it reaches."""

import math

SHOULDER_HEIGHT_M = 0.140
UPPER_M, FORE_M, HAND_M = 0.280, 0.260, 0.135  # shoulder to elbow, elbow to wrist, wrist to tip
REACH_M = (UPPER_M + FORE_M) * 0.985  # just short of a straight arm, where the elbow's direction is undefined


def joints_at(x: float, y: float, z: float) -> tuple[float, float, float, float, float]:
    """Angles (rad) of yaw, shoulder, elbow, wrist and roll, elbow up, the gripper down and its fingers along y.

    What is out of reach is drawn in on a straight line from the shoulder.
    """
    radius, height = math.hypot(x, y), z + HAND_M - SHOULDER_HEIGHT_M
    distance = math.hypot(radius, height)
    if distance > REACH_M:
        radius, height, distance = radius * REACH_M / distance, height * REACH_M / distance, REACH_M
    distance = max(distance, 0.05)
    yaw = math.atan2(y, x)
    inner = _corner(UPPER_M, FORE_M, distance)
    shoulder = math.atan2(radius, height) - _corner(UPPER_M, distance, FORE_M)
    elbow = math.pi - inner
    return yaw, shoulder, elbow, math.pi - shoulder - elbow, yaw


def _corner(one: float, other: float, opposite: float) -> float:
    cosine = (one * one + other * other - opposite * opposite) / (2 * one * other)
    return math.acos(max(-1.0, min(1.0, cosine)))
