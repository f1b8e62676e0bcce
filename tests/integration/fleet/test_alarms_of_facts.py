import pytest

from apps.alarms.models import Alarm
from apps.fleet.services import release_robot
from apps.journal.services import catch_up
from apps.kernel.ids import new_id
from tests.factories.fleet import TESTS, connect, facts_of, machine_for, take
from workers.protocol import ActionRefused, EpisodeStarted

pytestmark = pytest.mark.django_db(transaction=True)


def alarms():
    catch_up()
    return list(Alarm.objects.order_by("id").values_list("definition", "state"))


def test_a_refused_action_raises_an_alarm_that_ends_with_the_next_episode(robot, machine, claim, boot):
    """Attack 70: the console's part of it."""
    take(machine, claim, facts_of(boot, robot, ActionRefused(episode=None, reason="action is not a number")))
    assert alarms() == [("policy_unsafe", "unacknowledged")]
    again = EpisodeStarted(episode=new_id(), task="pick", driver="policy")
    take(machine, claim, facts_of(boot, robot, again, first=2))
    assert alarms() == [("policy_unsafe", "returned")]


def test_two_bridges_that_claim_one_robot_raise_an_alarm(site, robot, machine, claim):
    other = machine_for(site, [robot], "copy")
    for _ in range(3):
        connect(other, [robot])
    assert alarms() == [("claim_refused", "unacknowledged")]
    release_robot(actor=TESTS, site_id=site.id, robot_id=robot.id)
    assert alarms() == [("claim_refused", "returned")]
