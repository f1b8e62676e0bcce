"""Whatever bridges and people do to robots, replaying the facts from empty gives the tables, and each fact is there once."""

from collections import defaultdict
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

import pytest
from django.db import transaction
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st

from apps.fleet import projections, services
from apps.fleet.models import BootCursor, Bridge, Episode, Order, Robot
from apps.fleet.types import Claim, subject_name
from apps.journal.models import Event
from apps.journal.selectors import chain_faults
from apps.journal.services import as_recorded
from apps.kernel.errors import Refusal
from apps.kernel.ids import new_id
from tests.factories.accounts import make_site
from tests.factories.fleet import TESTS, connect, machine_for, make_robot, take
from workers import protocol

TABLES = (Order, Episode, BootCursor, Robot, Bridge)  # in the order in which rows may be deleted
NO_FACTS = {"fleet_boot_cursor": {"id"}}
SMALL = st.integers(0, 3)


@dataclass
class Side:
    """One bridge: its credential, its connections so far, its boots with what it told in each."""

    machine: Any
    claims: list[Claim] = field(default_factory=list)
    boots: list[tuple[UUID, list[protocol.Fact]]] = field(default_factory=list)


@dataclass
class World:
    """Three robots of a simulated site, and two bridges that may both speak for two of them."""

    site: Any
    robots: list[Robot]
    sides: list[Side]
    episodes: list[UUID]
    stops: list[UUID]

    def side(self, number: int) -> Side:
        return self.sides[number % 2]


def begin() -> World:
    site = make_site(is_simulated=True)
    robots = [make_robot(site, f"arm-{number}") for number in range(3)]
    sides = [Side(machine_for(site, robots, "one")), Side(machine_for(site, robots[1:], "two"))]
    world = World(site, robots, sides, [new_id() for _ in range(4)], [new_id() for _ in range(2)])
    for number in range(2):
        come(world, number, 0, 0)
    return world


def come(world, who, whom, which):
    side = world.side(who)
    if whom % 2 == 0 or not side.boots:
        side.boots.append((new_id(), []))
    side.claims.append(connect(side.machine, world.robots[: which % 3 + 1], boot=side.boots[-1][0]))


def go(world, who, whom, which):
    claim = world.side(who).claims[-1 - (which % 2) * (len(world.side(who).claims) > 1)]
    given = {"site_id": world.site.id, "bridge_id": claim.bridge_id, "epoch": claim.epoch, "reason": "gone"}
    services.release_bridge(actor=TESTS, **given)


def free(world, who, whom, which):
    robot = world.robots[which % 3]
    services.release_robot(actor=TESTS, site_id=world.site.id, robot_id=robot.id, expected=whom or None)


def ask(world, who, whom, which):
    robot = world.robots[which % 3]
    services.place_order(actor=TESTS, site_id=world.site.id, robot_id=robot.id, name="reset_scene")


BODIES = (
    lambda world, one: protocol.EpisodeStarted(episode=world.episodes[one], task="pick", driver="policy"),
    lambda world, one: protocol.EpisodeEnded(episode=world.episodes[one], outcome=list(protocol.Outcome)[one], steps=one),
    lambda world, one: protocol.ActionRefused(episode=world.episodes[one] if one else None, reason=f"reason {one}"),
    lambda world, one: protocol.NeedsReset(reason=f"reason {one}"),
    lambda world, one: protocol.WasReset(),
    lambda world, one: protocol.StopLatched(stop=world.stops[one % 2], received_at_ms=one, ended_at_ms=one + 1),
    lambda world, one: protocol.StopReleased(stop=world.stops[one % 2]),
    lambda world, one: protocol.OrderDone(order=last_order(world, one), succeeded=bool(one % 2)),
)


def last_order(world, number):
    found = list(Order.objects.order_by("-id").values_list("id", flat=True)[: number + 1])
    return found[-1] if found else new_id()


def tell(world, who, whom, which):
    """Several facts of one robot, over the newest connection or an older one, some of them sent before."""
    side = world.side(who)
    boot, spool = side.boots[-1]
    subject = subject_name(world.robots[whom % 3].id)
    for one in range(which + 1):
        body = BODIES[(which * 3 + whom + one + len(spool)) % len(BODIES)](world, (one + whom) % 4)
        spool.append(protocol.Fact(sequence=len(spool) + 1, at_ms=len(spool), subject=subject, body=body))
    start = max(0, len(spool) - which - 4)
    claim = side.claims[-1] if which else side.claims[0]
    take(side.machine, claim, protocol.Facts(boot=boot, facts=spool[start:]))


def tell_all(world, who, whom, which):
    """Everything of a boot again, as after a reconnect."""
    side = world.side(who)
    boot, spool = side.boots[which % len(side.boots)]
    if spool:
        take(side.machine, side.claims[-1], protocol.Facts(boot=boot, facts=spool[:50]))


COMMANDS = {act.__name__: act for act in (come, go, free, ask, tell, tell_all)}


def tables():
    """Every projected value of every row."""
    return {
        table.__name__: sorted(
            str({name: value for name, value in row.items() if name not in NO_FACTS.get(table._meta.db_table, ())})
            for row in table.objects.values()
        )
        for table in TABLES
    }


def rebuild(times):
    for table in TABLES:
        table.objects.all().delete()
    for row in Event.objects.filter(type__startswith="fleet.").order_by("position"):
        for _ in range(times):
            assert projections.apply_recorded(as_recorded(row))


def check_each_fact_is_there_once():
    """By the journal alone: numbers of each boot rise from 1 without gap or repeat, and only the newest epoch speaks."""
    numbers, epochs = defaultdict(list), defaultdict(int)
    for row in Event.objects.filter(type__startswith="fleet.").order_by("position"):
        told = row.payload
        if row.type == "fleet.bridge_connected":
            assert told["epoch"] == epochs[told["bridge_id"]] + 1
            epochs[told["bridge_id"]] = told["epoch"]
        elif "boot" in told:
            assert told["epoch"] == epochs[told["bridge_id"]]
            numbers[told["bridge_id"], told["boot"]].append(told["sequence"])
    for found in numbers.values():
        assert sorted(found) == list(range(1, len(found) + 1))


@pytest.mark.django_db
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(st.sampled_from(sorted(COMMANDS)), SMALL, SMALL, SMALL), min_size=6, max_size=25))
def test_replay_from_empty_equals_the_tables(commands):
    with transaction.atomic():
        world = begin()
        for name, who, whom, which in commands:
            facts = Event.objects.count()
            try:
                COMMANDS[name](world, who, whom, which)
                event(f"{name}: done")
            except Refusal as refusal:
                event(f"{name}: {refusal.code}")
                assert Event.objects.count() == facts
        live = tables()
        assert not list(chain_faults())
        check_each_fact_is_there_once()
        rebuild(times=1)
        assert tables() == live
        rebuild(times=2)
        assert tables() == live
        transaction.set_rollback(True)
