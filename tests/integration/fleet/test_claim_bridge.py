import threading
from dataclasses import replace

import pytest
from django.db import close_old_connections

from apps.accounts.services import revoke_machine_credential
from apps.control.models import StopSubject
from apps.fleet.events import bridge_stream, robot_stream
from apps.fleet.models import Bridge, Robot
from apps.fleet.services import claim_bridge
from apps.fleet.types import subject_name
from apps.journal.selectors import events_after
from apps.kernel.errors import NotFound, NotSignedIn, Stale
from apps.kernel.ids import new_id
from tests.factories.accounts import make_site
from tests.factories.fleet import TESTS, connect, facts_of, hello_of, machine_for, make_robot, make_robots, take
from workers.protocol import Channel, Described, StopLatched, WasReset


def types_of(stream):
    return [fact.type for fact in events_after(stream, 0)]


def test_the_first_bridge_that_claims_a_robot_gets_it(site, robot, machine):
    claim = connect(machine, [robot])
    assert (claim.epoch, claim.accepted, claim.refused, claim.resume) == (1, (robot.id,), [], [])
    assert [one["name"] for one in claim.robots[0].channels] == ["gripper", "joint_1"]
    robot.refresh_from_db()
    assert (robot.bridge_id, robot.cameras) == (claim.bridge_id, ["front"])
    assert types_of(robot_stream(robot.id)) == ["fleet.robot_registered", "fleet.robot_bound", "fleet.robot_described"]
    assert types_of(bridge_stream(claim.bridge_id)) == ["fleet.bridge_connected"]


def test_each_hello_makes_a_new_epoch_and_says_no_more_of_the_robot(robot, machine):
    first, again = connect(machine, [robot]), connect(machine, [robot])
    assert (again.bridge_id, again.epoch) == (first.bridge_id, 2)
    assert len(types_of(robot_stream(robot.id))) == 3


class TestTwoBridges:
    """Two bridges claim one robot: the second is refused, whatever it sends, until somebody releases the robot."""

    @pytest.fixture
    def other(self, site, robot):
        return machine_for(site, [robot], "copy")

    def test_the_second_is_refused_and_that_is_a_fact_once(self, robot, other, claim):
        refused = [connect(other, [robot]) for _ in range(3)]
        assert [one.accepted for one in refused] == [()] * 3
        assert [one.refused[0].code for one in refused] == ["claimed"] * 3
        assert types_of(robot_stream(robot.id)).count("fleet.claim_refused") == 1
        robot.refresh_from_db()
        assert (robot.bridge_id, robot.contested_by_id) == (claim.bridge_id, refused[0].bridge_id)

    def test_what_the_second_says_of_the_robot_is_kept_as_refused(self, robot, other, claim):
        second = connect(other, [robot])
        boot = new_id()
        latched = StopLatched(stop=new_id(), received_at_ms=1, ended_at_ms=2)
        assert take(other, second, facts_of(boot, robot, WasReset(), latched)) == 2
        assert types_of(bridge_stream(second.bridge_id)) == ["fleet.bridge_connected", *["fleet.fact_refused"] * 2]
        assert "fleet.was_reset" not in types_of(robot_stream(robot.id))
        assert not StopSubject.objects.exists()

    def test_it_withdraws_by_coming_back_without_the_robot(self, robot, other, claim):
        connect(other, [robot])
        connect(other, [])
        robot.refresh_from_db()
        assert robot.contested_by_id is None
        assert types_of(robot_stream(robot.id))[-1] == "fleet.claim_withdrawn"

    @pytest.mark.django_db(transaction=True)
    def test_of_two_at_the_same_moment_exactly_one_gets_it(self, site, robot, machine, other):
        start, claims = threading.Barrier(2), []

        def run(credential):
            try:
                start.wait(5)
                claims.append(connect(credential, [robot]))
            finally:
                close_old_connections()

        threads = [threading.Thread(target=run, args=[one]) for one in (machine, other)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(20)
        assert sorted(one.accepted for one in claims) == [(), (robot.id,)]
        assert types_of(robot_stream(robot.id)).count("fleet.robot_bound") == 1


def test_one_credential_in_two_places_fences_the_older(robot, machine, claim, boot, refused):
    newer = connect(machine, [robot])
    with refused(Stale, "epoch"):
        take(machine, claim, facts_of(boot, robot, WasReset()))
    assert take(machine, newer, facts_of(boot, robot, WasReset())) == 1


def test_what_the_credential_is_not_bound_to_is_unknown(site, robot, machine):
    """Attack 66: the bridge of one robot claims another; it is answered as if there were none."""
    other, elsewhere = make_robot(site), make_robot(make_site())
    claim = connect(machine, [robot, other, elsewhere])
    assert claim.accepted == (robot.id,)
    assert {(one.subject, one.code) for one in claim.refused} == {
        (subject_name(other.id), "unknown"),
        (subject_name(elsewhere.id), "unknown"),
    }
    other.refresh_from_db()
    assert other.bridge_id is None


def test_a_credential_bound_to_a_robot_of_another_site_reaches_nothing_there(site):
    robot = make_robot(make_site())
    claim = connect(machine_for(site, [robot]), [robot])
    assert (claim.accepted, claim.refused[0].code) == ((), "unknown")
    robot.refresh_from_db()
    assert robot.bridge_id is None


@pytest.mark.parametrize("subject", ["robot:arm-01", "device:00000000-0000-7000-8000-000000000000", "robot:", "x"])
def test_a_subject_of_another_shape_is_unknown(robot, machine, subject):
    claim = connect(machine, [robot], subjects=[subject, subject], described=[])
    assert (claim.accepted, [one.code for one in claim.refused]) == ((), ["unknown"])


def described(robot, **given):
    return Described(subject=subject_name(robot.id), **{"kind": robot.kind, "is_simulated": robot.is_simulated} | given)


@pytest.mark.parametrize(
    "given",
    [
        {"kind": "gripper"},
        {"is_simulated": False},
        {"channels": [Channel(name="a"), Channel(name="a")]},
        {"cameras": ["front", "front"]},
        {"channels": [Channel(name=name, headline=True) for name in "abcd"]},
        {"channels": [Channel(name="a", low=float("nan"))]},
        {"channels": [Channel(name="a", high=float("inf"))]},
    ],
)
def test_a_robot_that_is_described_as_another_is_refused(robot, machine, given):
    claim = connect(machine, [robot], described=[described(robot, **given)])
    assert (claim.accepted, claim.refused[0].code) == ((), "differs")
    robot.refresh_from_db()
    assert (robot.bridge_id, robot.channels) == (None, [])


def test_a_new_description_is_a_fact_and_an_old_one_is_not(robot, machine, claim):
    connect(machine, [robot])
    assert types_of(robot_stream(robot.id)).count("fleet.robot_described") == 1
    connect(machine, [robot], described=[described(robot, channels=[Channel(name="force", unit="N")])])
    robot.refresh_from_db()
    assert [one["name"] for one in robot.channels] == ["force"]


def test_words_of_a_bridge_are_made_visible(robot, machine):
    """Attack 39, at the door: nothing that a bridge says hides itself or breaks what it is stored in."""
    words = [described(robot, channels=[Channel(name="a\x00b\u202e", unit="\n")], cameras=["\x1b[31mfront"])]
    claim = connect(machine, [robot], described=words, software="edge\x00 1")
    robot.refresh_from_db()
    assert robot.channels[0]["name"] == "a\ufffdb\ufffd"
    assert robot.cameras == ["\ufffd[31mfront"]
    assert Bridge.objects.get(id=claim.bridge_id).software == "edge\ufffd 1"


def test_another_bridges_name_is_refused(robot, machine, refused):
    hello = hello_of(machine, [robot])
    with refused(NotFound):
        claim_bridge(machine=replace(machine, actor=replace(machine.actor, name="other")), hello=hello, gateway="g")


def test_a_credential_that_was_revoked_meanwhile_is_refused(site, robot, machine, refused):
    revoke_machine_credential(actor=TESTS, site_id=site.id, credential_id=machine.credential_id)
    with refused(NotSignedIn, "machine_revoked"):
        connect(machine, [robot])


def test_it_tells_how_far_each_boot_was_taken(robot, machine, claim, boot):
    take(machine, claim, facts_of(boot, robot, WasReset(), WasReset()))
    later = new_id()
    again = connect(machine, [robot], boot=later)
    take(machine, again, facts_of(later, robot, WasReset()))
    assert {(one.boot, one.sequence) for one in connect(machine, [robot]).resume} == {(boot, 2), (later, 1)}


def test_a_hello_costs_the_same_queries_for_each_robot_more(site, django_assert_max_num_queries):
    robots = make_robots(site, 12)
    machine = machine_for(site, robots)
    connect(machine, robots)
    with django_assert_max_num_queries(20):
        assert len(connect(machine, robots).accepted) == 12
    assert Robot.objects.filter(bridge__isnull=False).count() == 12
