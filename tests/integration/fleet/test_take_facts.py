import pytest

from apps.control.models import StopSubject
from apps.fleet import selectors
from apps.fleet.events import robot_stream
from apps.fleet.models import BootCursor, Episode
from apps.journal import selectors as journal
from apps.kernel.ids import new_id
from tests.factories.fleet import facts_of, take
from workers.protocol import EpisodeEnded, EpisodeStarted, NeedsReset, Outcome, StopLatched, StopReleased, WasReset

pytestmark = pytest.mark.django_db


def started(episode=None, **given):
    return EpisodeStarted(episode=episode or new_id(), task="pick", driver="policy", skill="pick@1", seed=7, **given)


def test_an_episode_is_taken_and_shown(site, robot, machine, claim, boot):
    episode = new_id()
    ended = EpisodeEnded(episode=episode, outcome=Outcome.SUCCESS, steps=45)
    assert take(machine, claim, facts_of(boot, robot, started(episode), ended)) == 2
    row = Episode.objects.get(id=episode)
    assert (row.outcome, row.steps, row.seed, row.device_ms) == ("success", 45, 7, 1_700_000_000_000)
    detail = selectors.robot_detail(site.id, robot.id)
    assert detail.episode is None
    assert dict(detail.outcomes) == {"success": 1}
    facts = journal.events_after(robot_stream(robot.id), 3)
    assert [(fact.type, fact.payload["sequence"], fact.payload["boot"]) for fact in facts] == [
        ("fleet.episode_started", 1, str(boot)),
        ("fleet.episode_ended", 2, str(boot)),
    ]


def test_what_was_taken_is_taken_again_as_nothing(robot, machine, claim, boot):
    facts = facts_of(boot, robot, started(), NeedsReset(reason="block on the floor"), WasReset())
    assert [take(machine, claim, facts), take(machine, claim, facts)] == [3, 3]
    assert len(journal.events_after(robot_stream(robot.id), 3)) == 3
    assert BootCursor.objects.get(boot=boot).sequence == 3


def test_what_a_robot_says_of_a_stop_reaches_control_in_the_same_transaction(site, robot, machine, claim, boot):
    stop = new_id()
    latched = StopLatched(stop=stop, received_at_ms=1_700_000_000_100, ended_at_ms=1_700_000_000_180)
    assert take(machine, claim, facts_of(boot, robot, latched, StopReleased(stop=stop), latched)) == 3
    subject = StopSubject.objects.get(stop_id=stop, subject_id=robot.id)
    assert subject.kind == "robot"
    assert [fact.type for fact in journal.events_after(robot_stream(robot.id), 3)] == [
        "fleet.stop_latched",
        "fleet.stop_released",
        "fleet.stop_latched",
    ]
