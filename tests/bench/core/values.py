"""What a subject of a measurement measures: nine numbers that all change, and that anybody can compute again.

Joint angles as a robot reports them (a sine with noise, four decimals), forces in full precision, and the sequence itself.
"""

import random
from functools import cache
from math import sin

from workers.protocol import Channel, Described

WIDTH = 9
ROWS = 4096
CHANNELS = [
    *(Channel(name=f"joint {number}", unit="rad", low=-3.0, high=3.0, headline=number == 1) for number in range(1, 5)),
    *(Channel(name=f"force {axis}", unit="N", low=-50.0, high=50.0, headline=axis == "x") for axis in "xyz"),
    Channel(name="load", unit="%", low=0.0, high=100.0),
    Channel(name="count", headline=True),
]


@cache
def _table() -> list[list[float]]:
    source = random.Random(20)
    rows = []
    for row in range(ROWS):
        angle = row * 6.283185307179586 / ROWS
        joints = [round(sin(angle * (7 + joint)) + source.gauss(0, 0.002), 4) for joint in range(4)]
        forces = [source.gauss(0, 10) for _ in range(3)]
        rows.append([*joints, *forces, source.uniform(0, 100)])
    return rows


def values_of(subject: int, sequence: int) -> list[float]:
    """What subject number `subject` says in its state number `sequence`."""
    return [*_table()[(subject * 37 + sequence) % ROWS], float(sequence)]


HEADLINES = [place for place, channel in enumerate(CHANNELS) if channel.headline]


def described(subject: str) -> Described:
    """What its bridge says of a subject."""
    return Described(subject=subject, kind="arm", channels=CHANNELS, is_simulated=True)
