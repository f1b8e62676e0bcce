"""Attack 70: a policy that answers with no numbers, out of bounds or ten times the speed moves nothing."""

import math

import pytest

from tests.unit.arms.cases import Alone, Stage
from workers.protocol import EpisodeEnded, Mode, NeedsReset, Outcome
from workers.protocol.facts import ActionRefused
from workers.sims.faults import Fault

KNOBS = {Fault.POLICY_NAN: "finite", Fault.POLICY_BOUNDS: "workspace", Fault.POLICY_FAST: "times as fast"}


@pytest.mark.parametrize("fault", KNOBS)
def test_it_is_refused_the_arm_holds_and_the_episode_is_unsafe(fault):
    """Attack 70."""
    case = Alone()
    case.until(Stage.RUNNING)
    case.step(3)
    case.arm.knobs.turn_on(fault, 0, 0)
    before, episode = case.arm.sight, case.arm.episode
    case.step()
    refused, ended = case.said(ActionRefused), case.said(EpisodeEnded)
    assert [one.episode for one in refused] == [episode]
    assert KNOBS[fault] in refused[0].reason
    assert [(one.episode, one.outcome, one.reason) for one in ended] == [(episode, Outcome.UNSAFE, refused[0].reason)]
    assert case.said(NeedsReset)[0].reason.startswith("An action was refused")
    assert (case.arm.stage, case.arm.mode) == (Stage.HELD, Mode.HOLD)
    case.step(30)
    assert math.dist(case.arm.sight.tip, before.tip) < 0.02  # it came to rest on its way, no further
    assert not case.arm.moves
    assert case.arm.bench.is_sound
    assert len(case.said(ActionRefused)) == 1


@pytest.mark.parametrize("answer", [[math.nan] * 4, [50.0, 0.0, 0.0, 1.0], [3.0, 3.0, 3.0, 1.0], [0.0, math.inf, 0.0, 1.0], []])
def test_whatever_the_policy_answers(answer):
    """Attack 70: not by our own knobs, but by the answer itself."""
    case = Alone()
    case.until(Stage.RUNNING)
    case.step(3)
    case.step(answer=answer)
    assert case.said(EpisodeEnded)[0].outcome is Outcome.UNSAFE
    assert case.arm.bench.is_sound
    case.step(20)
    assert not case.arm.moves
