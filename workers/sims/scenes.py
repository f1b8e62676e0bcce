"""Scenes of the task, each made from its seed alone: where the block lies, what it is like, and where it should go."""

from dataclasses import dataclass

import numpy as np

TASK = "Put the block in the zone"
ZONE_RADIUS_M = 0.045
SHARE_OF_TALL = 0.06  # tall blocks can fall over; then only a person on the floor can go on


@dataclass(frozen=True, slots=True)
class Scene:
    """One start of the task. Metres and radians; `half` are half the block's sides."""

    seed: int
    block: tuple[float, float]
    angle: float
    half: tuple[float, float, float]
    zone: tuple[float, float]

    @property
    def is_tall(self) -> bool:
        """Whether the block can fall over."""
        return self.half[2] > 0.03


def scene_of(seed: int) -> Scene:
    """The scene of this seed, always the same one."""
    draw = np.random.Generator(np.random.PCG64(seed))
    side = -1.0 if draw.random() < 0.5 else 1.0  # the block lies on one side of the bench, the zone on the other
    block = _place(draw, side)
    zone = _place(draw, -side)
    angle = float(draw.uniform(-0.35, 0.35))
    tall = bool(draw.random() < SHARE_OF_TALL)
    return Scene(seed, block, angle, (0.017, 0.017, 0.045) if tall else (0.02, 0.02, 0.02), zone)


def _place(draw: np.random.Generator, side: float) -> tuple[float, float]:
    return float(draw.uniform(0.27, 0.43)), float(side * draw.uniform(0.07, 0.24))
