"""Scenes come from their seed alone, and the arm can reach all of them."""

import math

from workers.sims.guard import HIGHEST, LOWEST
from workers.sims.scenes import SHARE_OF_TALL, scene_of


def test_the_same_seed_is_the_same_scene():
    assert scene_of(41) == scene_of(41)
    assert scene_of(41) != scene_of(42)


def test_block_and_zone_are_within_reach_and_apart():
    for seed in range(300):
        scene = scene_of(seed)
        for x, y in (scene.block, scene.zone):
            assert LOWEST[0] < x < HIGHEST[0]
            assert LOWEST[1] < y < HIGHEST[1]
            assert math.hypot(x, y) < 0.5
        assert math.dist(scene.block, scene.zone) > 0.13


def test_some_blocks_can_fall_over():
    tall = sum(scene_of(seed).is_tall for seed in range(1000))
    assert 0.5 * SHARE_OF_TALL * 1000 < tall < 1.6 * SHARE_OF_TALL * 1000
