"""The bench moves the same way for the same seed, the expert succeeds on it, and holding ends motion."""

import math

import pytest

from workers.sims.bench import HOME, SUBSTEPS, Bench
from workers.sims.episodes import Episode, play_expert
from workers.sims.expert import expert_action, home_action
from workers.sims.kinematics import joints_at
from workers.sims.scenes import scene_of
from workers.sims.task import End

TALL = next(seed for seed in range(200) if scene_of(seed).is_tall)


def trace(bench, seed, steps=45):
    """Every joint and the block, to the last bit, over an episode of the expert."""
    bench.lay_out(scene_of(seed))
    seen = []
    for _ in range(steps):
        bench.aim(expert_action(bench.see(), bench.scene.half[2]))
        for _ in range(SUBSTEPS):
            bench.advance()
        seen.append(bench.data.qpos.tobytes())
    return seen


def test_the_same_seed_moves_the_same_to_the_last_bit():
    used = Bench()
    trace(used, 8)  # what happened before on a bench leaves nothing behind
    assert trace(used, 7) == trace(Bench(), 7)
    assert trace(used, 7) != trace(Bench(), 8)


@pytest.mark.parametrize("seed", [*range(5), TALL])
def test_the_expert_succeeds(seed):
    played = play_expert(scene_of(seed), Bench())
    assert (played.end, played.refused) == (End.SUCCESS, "")
    assert played.steps < 70


@pytest.mark.parametrize("place", [(0.3, 0.0, 0.22), (0.45, -0.2, 0.02), (0.27, 0.24, 0.15)])
def test_the_tip_goes_where_it_is_told(place):
    bench = Bench()
    bench.data.qpos[bench._hand][:5] = joints_at(*place)
    bench.data.ctrl[:5] = joints_at(*place)
    bench._from[:5] = bench._to[:5] = joints_at(*place)
    for _ in range(5):
        bench.advance()
    assert math.dist(bench.see().tip, place) < 0.002


def test_what_is_out_of_reach_is_drawn_in():
    assert all(math.isfinite(angle) for angle in joints_at(3.0, 2.0, 0.1))
    assert all(math.isfinite(angle) for angle in joints_at(0.0, 0.0, 0.0))


@pytest.mark.parametrize("steps", [4, 20, 28])
def test_holding_ends_motion_within_160_ms(steps):
    bench = Bench()
    trace(bench, 3, steps)
    bench.aim(expert_action(bench.see(), bench.scene.half[2]))
    bench.advance()
    bench.hold()
    needed = 0
    while bench.joint_speed > 0.03:
        bench.advance()
        needed += 1
        assert needed <= 8
    before = bench.see().tip
    for _ in range(50):
        bench.advance()
    assert math.dist(before, bench.see().tip) < 0.005


def test_a_held_arm_keeps_what_it_grips():
    bench = Bench()
    trace(bench, 3, 24)
    assert bench.see().block[2] > 0.05
    bench.hold()
    for _ in range(100):
        bench.advance()
    assert bench.see().block[2] > 0.05


@pytest.mark.parametrize("gripper", [1.0, -1.0])
def test_fingers_stand_still_too(gripper):
    bench = Bench()
    for grip in (-gripper, gripper):
        bench.aim((0.0, 0.0, 0.0, grip))
        for _ in range(SUBSTEPS - 2):
            bench.advance()
    assert bench.moves
    bench.hold()
    before = bench.see().opening
    for _ in range(10):
        bench.advance()
    assert not bench.moves
    assert abs(bench.see().opening - before) < 0.02


def test_a_block_that_leaves_the_bench_needs_a_person():
    episode = Episode(Bench(), scene_of(5))
    episode.bench.knock_off()
    while episode.end is None:
        episode.play((0.0, 0.0, 0.0, 1.0))
    assert episode.end is End.LEFT_BENCH
    assert episode.end.needs_person


def test_a_tall_block_that_is_pushed_over_needs_a_person():
    bench = Bench()
    episode = Episode(bench, scene_of(TALL))
    bench.data.qpos[bench._block][2:] = (0.06, math.cos(0.6), math.sin(0.6), 0.0, 0.0)  # leans by 69 degrees
    while episode.end is None:
        episode.play((0.0, 0.0, 0.0, 1.0))
    assert episode.end is End.FELL_OVER


def test_it_finds_home():
    bench = Bench()
    trace(bench, 3, 30)
    for _ in range(40):
        bench.aim(home_action(bench.see()))
        for _ in range(SUBSTEPS):
            bench.advance()
    assert math.dist(bench.see().tip, HOME) < 0.015
