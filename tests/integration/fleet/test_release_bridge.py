from datetime import timedelta

from django.db.models import F

from apps.fleet import selectors
from apps.fleet.models import Bridge, GatewayNode
from apps.fleet.services import note_gateway, release_bridge, release_bridges_of_silent_gateways
from apps.fleet.types import GATEWAY_SILENT_AFTER
from apps.kernel import clock
from apps.kernel.errors import NotAllowed, NotFound
from apps.kernel.types import Role
from tests.factories.accounts import make_site
from tests.factories.fleet import TESTS, connect, machine_for, make_robot


def release(claim, site, epoch=None, actor=TESTS):
    return release_bridge(
        actor=actor, site_id=site.id, bridge_id=claim.bridge_id, epoch=epoch or claim.epoch, reason="socket closed"
    )


def test_the_end_of_a_connection_is_noted_once(site, robot, claim):
    assert [release(claim, site), release(claim, site)] == [True, False]
    assert not selectors.bridges_of(site.id)[0].is_connected
    robot.refresh_from_db()
    assert robot.bridge_id == claim.bridge_id


def test_an_older_connection_does_not_end_a_newer_one(site, robot, machine, claim):
    newer = connect(machine, [robot])
    assert release(claim, site) is False
    assert Bridge.objects.get(id=newer.bridge_id).lost_at is None


def test_only_the_console_says_so(site, claim, machine, somebody, refused):
    for actor in (somebody(Role.ADMIN), machine.actor):
        with refused(NotAllowed):
            release(claim, site, actor=actor)


def test_a_bridge_of_another_site(claim, refused):
    with refused(NotFound):
        release(claim, make_site())


class TestSilentGateways:
    """A gateway that died took its bridges along, and could not say so."""

    def test_its_bridges_are_lost(self, site, robot, machine):
        claim = connect(machine, [robot], gateway="dead")
        other = make_robot(site)
        alive = connect(machine_for(site, [other]), [other], gateway="alive")
        note_gateway(name="dead")
        GatewayNode.objects.update(seen_at=F("seen_at") - GATEWAY_SILENT_AFTER - timedelta(seconds=1))
        note_gateway(name="alive")
        assert release_bridges_of_silent_gateways(actor=TESTS) == [claim.bridge_id]
        assert release_bridges_of_silent_gateways(actor=TESTS) == []
        assert Bridge.objects.get(id=alive.bridge_id).lost_at is None

    def test_a_gateway_whose_clock_is_wrong_is_not_silent(self, robot, machine, monkeypatch):
        behind = clock.now() - timedelta(hours=1)
        with monkeypatch.context() as wrong:
            wrong.setattr(clock, "now", lambda: behind)
            note_gateway(name="behind")
            connect(machine, [robot], gateway="behind")
        assert release_bridges_of_silent_gateways(actor=TESTS) == []

    def test_a_bridge_that_just_came_is_left_alone(self, robot, machine):
        connect(machine, [robot], gateway="never seen")
        assert release_bridges_of_silent_gateways(actor=TESTS) == []

    def test_only_the_console_looks(self, claim, admin, refused):
        with refused(NotAllowed):
            release_bridges_of_silent_gateways(actor=admin)

    def test_a_gateway_is_noted_again_and_again(self, db):
        note_gateway(name="one")
        before = GatewayNode.objects.get().seen_at
        note_gateway(name="one")
        assert GatewayNode.objects.get().seen_at > before
        assert [name for name, _ in selectors.gateways()] == ["one"]
