"""The task's own check: what an episode has come to, from what is true and not from what a driver believes."""

import math
from dataclasses import dataclass
from enum import StrEnum

from workers.sims.bench import Bench, Sight
from workers.sims.scenes import ZONE_RADIUS_M

LONGEST_STEPS = 120  # 12 s
_STEADY_STEPS = 3
_HELD_BELOW_M = 0.062  # wider than any block between the fingers, narrower than an open gripper
_HELD_FROM_N = 1.0


class End(StrEnum):
    """How an episode came out."""

    SUCCESS = "success"
    TIME = "time ran out"
    LEFT_BENCH = "the block fell off the bench"
    FELL_OVER = "the block fell over"
    AWAY = "the block is out of reach"

    @property
    def needs_person(self) -> bool:
        """Whether only a person on the floor can set the scene right."""
        return self in (End.LEFT_BENCH, End.FELL_OVER)


class Phase(StrEnum):
    """What the arm is at, as seen from outside."""

    REACHING = "reaching for the block"
    LOWERING = "lowering to the block"
    GRIPPING = "gripping"
    LIFTING = "lifting"
    CARRYING = "carrying to the zone"
    PLACING = "placing"
    LEAVING = "leaving the block"


def holds(sight: Sight) -> bool:
    """Whether something is between the closing fingers."""
    return sight.closes and sight.grip_n > _HELD_FROM_N and 0.02 < sight.opening < _HELD_BELOW_M


def in_zone(sight: Sight) -> bool:
    """Whether the block's middle is in the zone, however high."""
    return math.dist(sight.block[:2], sight.zone) <= ZONE_RADIUS_M


def phase(sight: Sight) -> Phase:
    """The phase that this looks like."""
    across = math.dist(sight.tip[:2], sight.block[:2])
    if holds(sight):
        if math.dist(sight.tip[:2], sight.zone) < 0.03:
            return Phase.PLACING
        return Phase.LIFTING if sight.tip[2] < 0.07 else Phase.CARRYING
    if in_zone(sight):
        return Phase.LEAVING
    if sight.closes:
        return Phase.GRIPPING
    return Phase.LOWERING if across < 0.03 else Phase.REACHING


@dataclass(slots=True)
class Judge:
    """Watches one episode, once after each action."""

    steps: int = 0
    steady: int = 0

    def look(self, bench: Bench, sight: Sight) -> End | None:
        """How the episode ended with this action, or None while it goes on."""
        self.steps += 1
        half = bench.scene.half[2]
        if bench.is_block_off:
            return End.LEFT_BENCH
        if bench.scene.is_tall and sight.uprightness < 0.5 and sight.block[2] < half * 0.8:
            return End.FELL_OVER
        rests = sight.block[2] < half + 0.004 and sight.block_speed < 0.02
        lets_go = not sight.closes and sight.opening > 0.07 and sight.tip[2] - sight.block[2] > 0.03
        self.steady = self.steady + 1 if in_zone(sight) and rests and lets_go else 0
        if self.steady >= _STEADY_STEPS:
            return End.SUCCESS
        if rests and math.hypot(*sight.block[:2]) > 0.56:
            return End.AWAY
        return End.TIME if self.steps >= LONGEST_STEPS else None
