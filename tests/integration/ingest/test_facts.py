"""Facts are acknowledged after their commit, once each, and none is lost while the database is away."""

import asyncio
import time
from uuid import uuid4

import pytest

from apps.kernel.types import Role
from tests.factories import fleet
from tests.integration.ingest.speaking import bridge_of, page_of
from tests.integration.ingest.wire import Wire
from workers.protocol import EpisodeEnded, EpisodeStarted, FactsTaken, Order, Outcome


@pytest.fixture
async def site(world):
    return await world.site()


@pytest.fixture
async def robots(world, site):
    return await world.do(fleet.make_robots, site, 2)


def _episode():
    episode = uuid4()
    ended = EpisodeEnded(episode=episode, outcome=Outcome.SUCCESS, steps=9)
    return EpisodeStarted(episode=episode, task="pick", driver="policy"), ended


async def _episodes(world, robot):
    from apps.fleet.models import Episode

    return await world.do(lambda: list(Episode.objects.filter(robot=robot).order_by("id")))


async def test_taken_after_the_commit_and_once(world, gateway, site, robots):
    async with bridge_of(world, gateway, site, robots) as bridge:
        boot = bridge.hello.boot
        facts = fleet.facts_of(boot, robots[0], *_episode())
        await bridge.say(facts)
        assert await bridge.hear(FactsTaken) == FactsTaken(boot=boot, sequence=2)
        found = await _episodes(world, robots[0])
        assert [(one.outcome, one.steps) for one in found] == [("success", 9)]
        await bridge.say(facts)
        assert (await bridge.hear(FactsTaken)).sequence == 2
        await bridge.say(fleet.facts_of(boot, robots[0], *_episode(), first=4))  # the third is missing
        assert (await bridge.hear(FactsTaken)).sequence == 2
        await bridge.say(fleet.facts_of(boot, robots[0], *_episode(), first=3))
        assert (await bridge.hear(FactsTaken)).sequence == 4
        assert len(await _episodes(world, robots[0])) == 2


async def test_a_bridge_is_told_how_far_it_came(world, gateway, site, robots):
    credential = await world.do(fleet.credential_for, site, robots)
    async with bridge_of(world, gateway, site, robots, credential=credential) as bridge:
        boot = bridge.hello.boot
        await bridge.say(fleet.facts_of(boot, robots[0], *_episode()))
        await bridge.hear(FactsTaken)
    async with bridge_of(world, gateway, site, robots, credential=credential) as again:
        assert [(one.boot, one.sequence) for one in again.welcome.resume] == [(boot, 2)]


async def test_none_is_lost_while_the_database_is_away(world, site, robots):
    """Attack 8, for facts."""
    wire = Wire(world.url)
    try:
        here = world.serve("gateway", PILOTHOUSE_DATABASE_URL=wire.url)
        async with bridge_of(world, here, site, robots) as bridge:
            boot = bridge.hello.boot
            wire.cut()
            batches = [fleet.facts_of(boot, robots[0], *_episode(), first=1 + 2 * number) for number in range(15)]
            for batch in batches:  # more than the gateway keeps
                await bridge.say(batch)
            await asyncio.sleep(1.0)
            assert bridge.count(FactsTaken) == 0
            wire.mend()
            taken, ends = 0, time.monotonic() + 30
            while taken < 30 and time.monotonic() < ends:
                taken = max(taken, (await bridge.hear(FactsTaken, within=20)).sequence)
                if bridge.count(FactsTaken) == 0 and taken < 30:
                    await bridge.say(batches[taken // 2])  # as its spool does
            assert taken == 30
            assert len(await _episodes(world, robots[0])) == 15
    finally:
        wire.stop()


async def test_an_order_reaches_the_robot_within_a_second(world, gateway, site, robots):
    from apps.fleet.services import place_order
    from tests.factories import accounts

    person, _ = await world.person(site, Role.FLOOR_OPERATOR)
    actor = await world.do(accounts.actor_of, person)
    async with bridge_of(world, gateway, site, robots) as bridge, page_of(world, gateway, site, Role.VIEWER):
        placed = time.monotonic()
        order = await world.do(place_order, actor=actor, site_id=site.id, robot_id=robots[1].id, name="reset_scene")
        heard = await bridge.hear(Order)
        assert time.monotonic() - placed < 1.5
        assert (heard.order, heard.subject, heard.name) == (order.id, f"robot:{robots[1].id}", "reset_scene")
        assert heard.valid_until_ms > time.time() * 1000


async def test_samples_are_stored_and_reports_are_kept(world, gateway, site, robots):
    from apps.fleet.models import RobotReport
    from apps.telemetry import selectors

    async with bridge_of(world, gateway, site, robots) as bridge:
        await bridge.report(0, task="pick", sequence=7)
        since = int(time.time() * 1000)
        for number in range(120):
            await bridge.states(0, values=(float(number), None))
            await asyncio.sleep(0.1)
        row = await world.do(lambda: RobotReport.objects.filter(robot=robots[0]).first())
        assert (row.sequence, row.body["task"], row.boot) == (7, "pick", bridge.hello.boot)
    from apps.kernel.types import SubjectRef

    subject = SubjectRef("robot", robots[0].id, site_id=site.id)
    ends = time.monotonic() + 15
    while time.monotonic() < ends:
        found = await world.do(
            selectors.series, subject, channels=["gripper"], since_ms=since - 1000, until_ms=since + 30_000, pixels=31
        )
        if sum(found.count) >= 90:
            break
        await asyncio.sleep(0.5)
    assert sum(found.count) >= 90
    assert found.channels[0].lowest[1] is not None
