import pytest

from apps.fleet.models import Robot
from apps.fleet.services import place_order, release_bridge
from apps.journal.services import replay
from apps.kernel.ids import new_id
from tests.factories.fleet import TESTS, connect, facts_of, machine_for, take
from workers.protocol import ActionRefused, EpisodeEnded, EpisodeStarted, NeedsReset, OrderDone, Outcome

pytestmark = pytest.mark.django_db(transaction=True)


def test_tables_made_again_from_the_facts_alone_are_the_live_ones(site, robot, machine, claim, boot):
    order = place_order(actor=TESTS, site_id=site.id, robot_id=robot.id, name="reset_scene")
    first, second = new_id(), new_id()
    bodies = [
        EpisodeStarted(episode=first, task="pick", driver="policy"),
        ActionRefused(episode=first, reason="too fast"),
        EpisodeStarted(episode=second, task="pick", driver="policy"),
        EpisodeEnded(episode=first, outcome=Outcome.UNSAFE, steps=3),
        NeedsReset(reason="block on the floor"),
        OrderDone(order=order.id, succeeded=True),
        OrderDone(order=new_id(), succeeded=True),
    ]
    take(machine, claim, facts_of(boot, robot, *bodies))
    connect(machine_for(site, [robot], "copy"), [robot])
    release_bridge(actor=TESTS, site_id=site.id, bridge_id=claim.bridge_id, epoch=claim.epoch, reason="closed")
    found = replay(names=["fleet"])
    assert {one.table for one in found} == {"fleet_bridge", "fleet_boot_cursor", "fleet_robot", "fleet_episode", "fleet_order"}
    assert all(one.holds for one in found), found
    Robot.objects.filter(id=robot.id).update(needs_reset="something else")
    assert [one.table for one in replay(names=["fleet"]) if not one.holds] == ["fleet_robot"]
