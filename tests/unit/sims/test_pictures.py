"""Pictures of a bench: drawn without a screen, with name and time burnt in."""

import io
import os

import numpy as np
import pytest
from PIL import Image

from workers.sims.bench import Bench
from workers.sims.pictures import HEIGHT, WIDTH, Photographer, Printer
from workers.sims.scenes import scene_of

STRIP = HEIGHT - 15
pytestmark = pytest.mark.skipif(os.environ.get("MUJOCO_GL") == "disable", reason="libosmesa6 is not installed")


@pytest.fixture(scope="module")
def photographer():
    found = Photographer()
    yield found
    found.close()


def pixels(photographer, bench):
    photographer.look(bench)
    return photographer.draw().copy()


def read(jpeg):
    return np.asarray(Image.open(io.BytesIO(jpeg))).astype(int)


def test_arm_block_and_zone_can_be_seen(photographer):
    bench = Bench()
    bench.lay_out(scene_of(5))
    seen = pixels(photographer, bench).astype(int)
    assert seen.shape == (HEIGHT, WIDTH, 3)
    red, green, blue = seen[..., 0], seen[..., 1], seen[..., 2]
    assert 60 < ((red > 150) & (green < 140) & (blue < 90)).sum() < 3000  # the block, orange
    assert 60 < ((green > 120) & (red < 120) & (green > blue)).sum() < 3000  # the zone, green
    assert (seen.min(axis=2) > 190).sum() > 500  # the arm, nearly white


def test_one_context_draws_every_bench(photographer):
    one, other = Bench(), Bench()
    one.lay_out(scene_of(5))
    other.lay_out(scene_of(6))
    first = pixels(photographer, one)
    assert (first != pixels(photographer, other)).any()
    assert (first == pixels(photographer, one)).all()


def test_a_still_arm_is_not_a_frozen_camera(photographer):
    still = pixels(photographer, Bench())
    printer = Printer()
    once, later = (printer.jpeg(still, "arm-01", at_ms) for at_ms in (1_000_000, 1_000_100))
    assert once != later
    assert once == Printer().jpeg(still, "arm-01", 1_000_000)
    assert abs(read(once)[:STRIP] - still[:STRIP].astype(int)).mean() < 6
    assert (read(once)[STRIP:] != read(later)[STRIP:]).any()


def test_each_arm_is_named_in_its_picture(photographer):
    still = pixels(photographer, Bench())
    printer = Printer()
    assert printer.jpeg(still, "arm-01", 0) != printer.jpeg(still, "arm-02", 0)


def test_black_is_black_all_over():
    assert read(Printer().black()).max() == 0
