"""What one arm does by itself: episodes with their facts, standing still when told, waiting for a person when it must."""

import math

import pytest

from tests.unit.arms.cases import Alone, Stage
from workers.protocol import Driver, EpisodeEnded, EpisodeStarted, Mode, NeedsReset, Outcome, WasReset
from workers.sims.bench import SUBSTEPS
from workers.sims.faults import Fault
from workers.sims.scenes import TASK


def test_an_episode_begins_ends_and_is_followed_by_the_next():
    case = Alone()
    case.until(Stage.RUNNING)
    case.until(Stage.SHOWING)
    case.until(Stage.RUNNING)
    started, ended = case.said(EpisodeStarted), case.said(EpisodeEnded)
    assert [type(fact) for fact in case.facts] == [EpisodeStarted, EpisodeEnded, EpisodeStarted]
    assert (started[0].task, started[0].driver, started[0].seed) == (TASK, "expert", 2_000_000)
    assert started[1].seed == 2_000_001
    assert (ended[0].episode, ended[0].outcome) == (started[0].episode, Outcome.SUCCESS)
    assert 20 < ended[0].steps < 70


def test_nothing_moves_before_it_may():
    case = Alone()
    case.step(10, may_move=False)
    assert case.facts == []
    assert not case.arm.moves
    assert (case.arm.mode, case.arm.driver) == (Mode.HOLD, Driver.NOBODY)


def test_the_same_first_seed_plays_the_same_episode():
    played = []
    for _ in range(2):
        case = Alone(first_seed=77)
        case.until(Stage.SHOWING)
        played.append((case.said(EpisodeEnded)[0].steps, case.arm.bench.data.qpos.tobytes()))
    assert played[0] == played[1]


def test_an_interrupted_arm_stands_still_and_begins_anew_only_when_it_may():
    case = Alone()
    case.until(Stage.RUNNING)
    case.step(15)
    case.arm.interrupt("stopped")
    assert case.said(EpisodeEnded)[0].outcome is Outcome.ABORTED
    case.step(3, may_move=False)
    before = case.arm.sight.tip
    case.step(20, may_move=False)
    assert math.dist(before, case.arm.sight.tip) < 0.003
    assert not case.arm.moves
    assert (case.arm.mode, case.arm.episode) == (Mode.HOLD, None)
    case.until(Stage.RETURNING)
    case.until(Stage.RUNNING)
    assert case.said(EpisodeStarted)[1].seed != case.said(EpisodeStarted)[0].seed


def test_a_lost_block_waits_for_a_person():
    case = Alone()
    case.until(Stage.RUNNING)
    case.arm.turn(Fault.BLOCK_OFF, 0, 0)
    case.until(Stage.HELD)
    assert case.said(EpisodeEnded)[0].outcome is Outcome.FAILURE
    assert case.said(NeedsReset)[0].reason == "The block fell off the bench"
    assert (case.arm.mode, case.arm.needs_reset) == (Mode.FAULT, "The block fell off the bench")
    case.step(50)
    assert case.arm.stage is Stage.HELD
    case.arm.reset()
    assert case.arm.mode is Mode.RESETTING
    case.until(Stage.RUNNING)
    assert len(case.said(WasReset)) == 1
    assert case.arm.needs_reset == ""


def test_a_reset_ends_the_episode_it_comes_into():
    case = Alone()
    case.until(Stage.RUNNING)
    case.step(10)
    case.arm.reset()
    assert case.said(EpisodeEnded)[0].outcome is Outcome.ABORTED
    case.until(Stage.RUNNING)
    assert len(case.said(WasReset)) == 1


def test_a_stalled_motor_does_not_follow_and_the_arm_does_not_come_home():
    case = Alone()
    case.until(Stage.RUNNING)
    case.step(2)
    case.arm.turn(Fault.ACTUATOR_STALL, 0, 0)
    shoulder, off = case.arm.bench.joints[1], []
    for _ in range(30):
        case.step()
        off.append(math.dist(case.arm.sight.tip, case.arm.sight.aimed))
    assert abs(case.arm.bench.joints[1] - shoulder) < 0.1
    assert max(off) > 0.03
    case.until(Stage.HELD, most=400)
    assert "start" in case.arm.needs_reset
    case.arm.turn_back([Fault.ACTUATOR_STALL])
    case.arm.reset()
    case.until(Stage.RUNNING)


def test_slippery_fingers_lose_the_block():
    case = Alone()
    case.until(Stage.RUNNING)
    case.arm.turn(Fault.GRIPPER_SLIP, 0, 0)
    case.step(60)
    assert case.arm.sight.block[2] < 0.03
    assert case.said(EpisodeEnded) == []
    case.arm.turn_back([Fault.GRIPPER_SLIP])
    case.until(Stage.SHOWING)
    assert case.said(EpisodeEnded)[0].outcome is Outcome.SUCCESS


def test_a_fault_lasts_as_long_as_it_was_asked_for():
    case = Alone()
    case.arm.turn(Fault.ACTUATOR_STALL, 5.0, now=100.0)
    case.arm.turn(Fault.GRIPPER_SLIP, 0.0, now=100.0)
    case.arm.expire(104.9)
    assert case.arm.bench.is_stalled
    case.arm.expire(105.0)
    assert not case.arm.bench.is_stalled
    assert case.arm.knobs.on == (Fault.GRIPPER_SLIP,)


@pytest.mark.parametrize("part", range(1, SUBSTEPS))
def test_an_action_can_be_interrupted_in_any_of_its_parts(part):
    case = Alone()
    case.until(Stage.RUNNING)
    case.step(6)
    case.arm.decide(None)
    for _ in range(part):
        case.arm.advance()
    assert case.arm.moves
    case.arm.interrupt("stopped")
    for _ in range(9):
        case.arm.advance()
    assert not case.arm.moves
