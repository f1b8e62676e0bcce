"""Fault knobs: what can be made to go wrong with a simulated arm, for how long, and what it does to actions and states."""

import math
from collections.abc import Sequence
from enum import StrEnum

from workers.sims.guard import FASTEST_STEP_M, HIGHEST


class Fault(StrEnum):
    """One knob."""

    ACTUATOR_STALL = "actuator_stall"
    GRIPPER_SLIP = "gripper_slip"
    CAMERA_FREEZE = "camera_freeze"
    CAMERA_BLACK = "camera_black"
    CAMERA_FOREIGN = "camera_foreign"  # another arm's pictures
    CLOCK_SKEW = "clock_skew"
    DUPLICATE_TELEMETRY = "duplicate_telemetry"
    REORDER_TELEMETRY = "reorder_telemetry"
    LINK_LOSS = "link_loss"
    PROCESS_KILL = "process_kill"
    POLICY_NAN = "policy_nan"
    POLICY_BOUNDS = "policy_bounds"
    POLICY_FAST = "policy_fast"
    BLOCK_OFF = "block_off"  # somebody knocks the block off the bench


OF_THE_BRIDGE = frozenset({Fault.CLOCK_SKEW, Fault.LINK_LOSS, Fault.PROCESS_KILL})
AT_ONCE = frozenset({Fault.LINK_LOSS, Fault.PROCESS_KILL, Fault.BLOCK_OFF})  # happen, and do not last as a state of an arm
CLOCK_SKEW_MS = 600_000.0
LINK_LOSS_S = 10.0
_OUT_M, _TOO_FAST = 0.30, 10.0


class Knobs:
    """Which faults one arm has now. Times are seconds of a monotonic clock."""

    def __init__(self) -> None:
        self._until: dict[Fault, float] = {}

    def turn_on(self, fault: Fault, seconds: float, now: float) -> None:
        """Have this fault for so long; 0 lasts until it is turned off."""
        self._until[fault] = now + seconds if seconds > 0 else math.inf

    def turn_off(self, fault: Fault) -> bool:
        """Have it no more; whether it was on."""
        return self._until.pop(fault, None) is not None

    def expire(self, now: float) -> list[Fault]:
        """Turn off what lasted long enough, and say what that was."""
        over = [fault for fault, until in self._until.items() if now >= until]
        for fault in over:
            del self._until[fault]
        return over

    def __contains__(self, fault: Fault) -> bool:
        return fault in self._until

    @property
    def on(self) -> tuple[Fault, ...]:
        """All that are on."""
        return tuple(self._until)


def spoiled(action: Sequence[float], tip: Sequence[float], knobs: Knobs) -> Sequence[float]:
    """What a driver asks for while these faults are on, from this commanded tip (m)."""
    if Fault.POLICY_NAN in knobs:
        return [math.nan] * len(action)
    if Fault.POLICY_BOUNDS in knobs:
        return [(HIGHEST[0] + _OUT_M - tip[0]) / FASTEST_STEP_M, *action[1:]]
    if Fault.POLICY_FAST in knobs:
        return [*(part * _TOO_FAST for part in action[:3]), *action[3:]]
    return action
