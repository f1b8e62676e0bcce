"""What an arm measures: ten times a second, all of it from the physics."""

import math

from workers.protocol import Channel
from workers.sims.bench import Bench, Sight

CAMERAS = ["bench"]
CHANNELS = [
    Channel(name="tip speed", unit="mm/s", low=0, high=400, headline=True),
    Channel(name="grip force", unit="N", low=0, high=12, headline=True),
    Channel(
        name="off target", unit="mm", low=0, high=30, headline=True
    ),  # between where the tip is and where it was told to be
    Channel(name="tip x", unit="mm"),
    Channel(name="tip y", unit="mm"),
    Channel(name="tip z", unit="mm", low=0),
    Channel(name="gripper", unit="mm", low=0, high=82),
    Channel(name="yaw", unit="deg", low=-149, high=149),
    Channel(name="shoulder", unit="deg", low=-80, high=126),
    Channel(name="elbow", unit="deg", low=3, high=166),
    Channel(name="wrist", unit="deg", low=-86, high=183),
    Channel(name="roll", unit="deg", low=-178, high=178),
    Channel(name="yaw torque", unit="N m", low=-40, high=40),
    Channel(name="shoulder torque", unit="N m", low=-60, high=60),
    Channel(name="elbow torque", unit="N m", low=-40, high=40),
]


def measured(bench: Bench, sight: Sight, before: Sight, seconds: float) -> list[float | None]:
    """The values of the channels, in their order; `before` is what was true so many seconds ago."""
    yaw, shoulder, elbow, *_ = bench.torques
    return [
        _shown(math.dist(sight.tip, before.tip) / seconds * 1000),
        _shown(sight.grip_n),
        _shown(math.dist(sight.tip, sight.aimed) * 1000),
        *(_shown(part * 1000) for part in sight.tip),
        _shown(sight.opening * 1000),
        *(_shown(math.degrees(angle)) for angle in bench.joints),
        _shown(yaw),
        _shown(shoulder),
        _shown(elbow),
    ]


def _shown(value: float) -> float | None:
    return round(value, 2) if math.isfinite(value) else None
