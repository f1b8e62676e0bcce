"""The bridge of the arms: what it describes and samples, Stops, orders, and every fault knob with its effect."""

import itertools
import math
import os
import signal
import time
from uuid import uuid4

import pytest

from tests.unit.arms.cases import Stage, arm_of, ask, bridge_of, settled
from workers.edge.arms import bridge as module
from workers.edge.arms.bridge import Arms
from workers.edge.arms.cameras import Cameras
from workers.edge.arms.channels import CHANNELS
from workers.edge.arms.orders import wish_from
from workers.edge.base import Config, OrderRefused, Subject
from workers.protocol import ClearStop, EpisodeEnded, Mode, Outcome, StopLatched, StopNow
from workers.protocol.base import MOST_CHANNELS
from workers.sims.faults import CLOCK_SKEW_MS, LINK_LOSS_S, Fault
from workers.sims.guard import refusal

PICTURES = os.environ.get("MUJOCO_GL") != "disable"


@pytest.fixture
def bridge(tmp_path):
    found = settled(bridge_of(tmp_path))
    yield found
    found.stops.close()
    found.orders.close()
    os.close(found._guard)


def steps(bridge, count):
    for _ in range(count):
        bridge.step()


def test_it_says_that_it_is_simulated(bridge):
    described = bridge.describe(bridge.subjects[0])
    assert described.is_simulated
    assert described.kind == "arm"
    assert 8 <= len(described.channels) <= MOST_CHANNELS
    assert sum(channel.headline for channel in described.channels) == 3


def test_samples_are_measured_and_change_with_every_step(bridge):
    steps(bridge, 4)
    once = bridge.sample(bridge.subjects[0])
    steps(bridge, 1)
    later = bridge.sample(bridge.subjects[0])
    assert len(once) == len(CHANNELS)
    assert all(isinstance(value, float) and math.isfinite(value) for value in once)
    assert sum(one != other for one, other in zip(once, later, strict=True)) >= 8
    tip = arm_of(bridge).sight.tip
    by_name = dict(zip((channel.name for channel in CHANNELS), later, strict=True))
    assert [by_name[f"tip {axis}"] for axis in "xyz"] == [round(part * 1000, 2) for part in tip]


def test_the_expert_is_labelled_until_there_is_a_policy(bridge):
    steps(bridge, 3)
    doing = bridge.report(bridge.subjects[0])
    assert (doing.mode, doing.driver.value, doing.skill) == (Mode.AUTONOMOUS, "expert", "scripted expert")
    assert doing.episode is not None


def test_a_step_keeps_its_time(bridge):
    began = time.monotonic()
    steps(bridge, 3)
    assert time.monotonic() - began >= 3 * 0.08


def test_a_stop_ends_motion_and_is_confirmed_by_what_was_measured(bridge):
    subject = bridge.subjects[0]
    bridge.stops.start(frozenset(bridge.subjects))
    steps(bridge, 7)
    arm = arm_of(bridge)
    assert bridge.is_moving(subject)
    stop = uuid4()
    bridge.stop_now(StopNow(stop=stop, subjects=[subject], issued_at_ms=0))
    assert bridge.is_moving(subject)
    steps(bridge, 4)
    assert not bridge.is_moving(subject)
    assert arm.episode is None
    assert arm_of(bridge, 1).episode is not None
    at_rest = arm.sight.tip
    steps(bridge, 5)
    assert math.dist(at_rest, arm.sight.tip) < 0.003
    told = [fact.body for fact in bridge.client.spool.pending().facts if fact.subject == subject]
    confirmed = [body for body in told if isinstance(body, StopLatched)]
    assert [body.stop for body in confirmed] == [stop]
    assert confirmed[0].ended_at_ms - confirmed[0].received_at_ms < 400
    bridge.clear_stop(ClearStop(stop=stop, subjects=[subject]))
    deadline = time.monotonic() + 5
    while bridge.stops.latch.holds(subject):
        assert time.monotonic() < deadline
        time.sleep(0.01)
    steps(bridge, 1)
    assert arm.stage is not Stage.RUNNING  # cleared moves nothing by itself: the arm goes home first


def test_what_the_bridge_was_told_before_it_started_holds(tmp_path):
    first = bridge_of(tmp_path)
    first.stops.latch.hold(uuid4(), [first.subjects[0]], 0)
    first.stops.latch.keep()
    assert not settled(first).may_move(first.subjects[0])
    steps(first, 3)
    assert arm_of(first).stage is Stage.WAITING
    assert not arm_of(first).moves


def test_a_step_that_hangs_ends_the_episodes(bridge):
    steps(bridge, 4)
    bridge._step_hangs("step")
    assert bridge.is_moving(bridge.subjects[0])  # until the next part of a step heeds it
    bridge._hung = False
    steps(bridge, 1)
    assert arm_of(bridge).episode is None or arm_of(bridge).judge.steps <= 1


def test_told_to_end_it_ends_its_episodes_first(bridge):
    steps(bridge, 4)
    episode = arm_of(bridge).episode
    bridge.end()
    assert not bridge._ending.is_set()
    steps(bridge, 1)
    assert bridge._ending.is_set()
    told = [fact.body for fact in bridge.client.spool.pending().facts]
    ended = [body for body in told if isinstance(body, EpisodeEnded) and body.episode == episode]
    assert [(body.outcome, body.reason) for body in ended] == [(Outcome.ABORTED, "the bridge ended")]


def test_a_reset_is_ordered(bridge):
    arm = arm_of(bridge)
    arm.turn(Fault.BLOCK_OFF, 0, 0)
    while arm.stage is not Stage.HELD:
        steps(bridge, 1)
    assert ask(bridge, "reset_scene")
    assert arm.stage is Stage.RETURNING
    assert bridge.report(bridge.subjects[0]).mode is Mode.RESETTING


def test_no_reset_moves_an_arm_that_is_stopped(bridge):
    bridge.stops.latch.hold(uuid4(), [bridge.subjects[0]], 0)
    with pytest.raises(OrderRefused):
        ask(bridge, "reset_scene")


def test_the_attendant_comes_when_nobody_does(tmp_path):
    bridge = settled(bridge_of(tmp_path, count=1, attendant=0.5))
    arm = arm_of(bridge)
    arm.turn(Fault.BLOCK_OFF, 0, 0)
    while arm.stage is not Stage.HELD:
        steps(bridge, 1)
    steps(bridge, 3)
    assert arm.stage is Stage.HELD
    steps(bridge, 4)
    assert arm.stage is not Stage.HELD
    assert arm.needs_reset == ""


def test_a_new_process_mends_nothing(tmp_path):
    first = settled(bridge_of(tmp_path, count=1))
    arm = arm_of(first)
    arm.turn(Fault.BLOCK_OFF, 0, 0)
    while arm.stage is not Stage.HELD:
        steps(first, 1)
    os.close(first._guard)  # as if it had been killed: nothing else is closed
    config = Config(
        url="ws://127.0.0.1:1/machine", credential="none", bridge="arms", subjects=[Subject(subject=first.subjects[0])]
    )
    again = settled(Arms(config, folder=tmp_path / "state", options=first._options))
    steps(again, 3)
    doing = again.report(again.subjects[0])
    assert (doing.mode, doing.needs_reset) == (Mode.FAULT, "The block fell off the bench")
    ask(again, "reset_scene")
    while arm_of(again).stage is not Stage.RUNNING:
        steps(again, 1)
    assert again._waiting.of(again.subjects[0]) is None


@pytest.mark.parametrize(
    "arguments", [{"name": "flood"}, {}, {"name": "camera_black", "seconds": -1}, {"name": "camera_black", "seconds": "x"}]
)
def test_what_is_no_knob_is_refused(bridge, arguments):
    with pytest.raises(OrderRefused):
        ask(bridge, "inject_fault", **arguments)


def test_no_other_order_is_known(bridge):
    with pytest.raises(OrderRefused):
        ask(bridge, "dance")


@pytest.mark.parametrize("fault", [one for one in Fault if one not in {Fault.LINK_LOSS, Fault.PROCESS_KILL, Fault.BLOCK_OFF}])
def test_a_fault_is_said_openly_until_it_is_cleared(bridge, fault):
    assert ask(bridge, "inject_fault", name=fault.value, seconds=60)
    assert fault.value in bridge.report(bridge.subjects[0]).faults
    assert ask(bridge, "clear_fault", name="all")
    assert bridge.report(bridge.subjects[0]).faults == ()


@pytest.mark.skipif(not PICTURES, reason="libosmesa6 is not installed")
def test_what_the_knobs_of_a_camera_do(bridge):
    cameras = Cameras(bridge._arms, itertools.count(0, 300).__next__)
    shots = lambda: [next(iter(cameras.next_shot())) for _ in bridge.subjects]  # noqa: E731
    first, before = shots(), shots()
    assert first[0].jpeg != before[0].jpeg
    ask(bridge, "inject_fault", name="camera_freeze")
    frozen = shots()
    assert frozen[0].jpeg == before[0].jpeg
    assert frozen[0].at_ms > before[0].at_ms
    assert frozen[1].jpeg != before[1].jpeg
    ask(bridge, "inject_fault", name="camera_black")
    assert len(shots()[0].jpeg) < 2000
    ask(bridge, "clear_fault", name="all")
    ask(bridge, "inject_fault", name="camera_foreign")
    known = shots()
    assert shots()[0].jpeg == known[1].jpeg
    ask(bridge, "clear_fault", name="all")
    assert shots()[0].jpeg not in {known[0].jpeg, known[1].jpeg}
    cameras.close()


def test_a_machine_that_cannot_draw_says_so_once(bridge, monkeypatch):
    def broken():
        from workers.sims.pictures import NoPictures

        raise NoPictures("libosmesa6 is missing")

    monkeypatch.setattr("workers.edge.arms.cameras.Photographer", broken)
    assert list(bridge.pictures()) == []
    assert list(bridge.pictures()) == []
    assert bridge.report(bridge.subjects[0]).faults == ("libosmesa6 is missing",)


def test_the_clock_is_skewed_and_set_right(bridge):
    now = time.time() * 1000
    ask(bridge, "inject_fault", name="clock_skew")
    assert abs(bridge.clock.now_ms() - now - CLOCK_SKEW_MS) < 5000
    ask(bridge, "clear_fault", name="clock_skew")
    assert abs(bridge.clock.now_ms() - now) < 5000


def test_a_skewed_clock_is_set_right_when_its_time_is_over(bridge):
    ask(bridge, "inject_fault", name="clock_skew", seconds=0.01)
    time.sleep(0.02)
    steps(bridge, 1)
    assert bridge.clock.skew_ms == 0


def test_the_link_is_lost_for_a_while(bridge):
    ask(bridge, "inject_fault", name="link_loss")
    assert 0 < bridge.client.cut_until - time.monotonic() <= LINK_LOSS_S
    ask(bridge, "inject_fault", name="link_loss", seconds=3)
    assert bridge.client.cut_until - time.monotonic() <= LINK_LOSS_S


def test_the_bridge_kills_itself(bridge, monkeypatch):
    killed = []
    monkeypatch.setattr(module.os, "kill", lambda *words: killed.append(words))
    ask(bridge, "inject_fault", name="process_kill")
    assert killed == [(os.getpid(), signal.SIGKILL)]


def test_telemetry_is_duplicated_and_reordered_for_the_asked_arm_only(bridge):
    from workers.protocol import State

    def shaped(sequence):
        states = [State(subject=place, sequence=sequence, at_ms=0, values=[]) for place in (0, 1)]
        return [(one.subject, one.sequence) for one in bridge.client.shape(states)]

    ask(bridge, "inject_fault", name="duplicate_telemetry")
    assert shaped(1) == [(0, 1)] * 3 + [(1, 1)]
    ask(bridge, "clear_fault", name="duplicate_telemetry")
    ask(bridge, "inject_fault", name="reorder_telemetry")
    assert shaped(2) == [(1, 2)]
    assert shaped(3) == [(0, 3), (0, 2), (1, 3)]


def test_the_command_line_turns_knobs(tmp_path):
    bridge = bridge_of(tmp_path, fault=[wish_from("gripper_slip"), wish_from("actuator_stall:arm-02:30")])
    bridge.prepare()
    assert arm_of(bridge).knobs.on == (Fault.GRIPPER_SLIP,)
    assert set(arm_of(bridge, 1).knobs.on) == {Fault.GRIPPER_SLIP, Fault.ACTUATOR_STALL}


@pytest.mark.parametrize("text", ["", "flood", "gripper_slip:arm-01:soon"])
def test_the_command_line_refuses_other_words(text):
    with pytest.raises(ValueError, match="NAME"):
        wish_from(text)


def test_the_guard_is_asked_about_every_action(bridge, monkeypatch):
    asked = []
    monkeypatch.setattr("workers.edge.arms.arm.refusal", lambda *words: asked.append(words) or refusal(*words))
    steps(bridge, 5)
    assert len(asked) >= 2 * 4
