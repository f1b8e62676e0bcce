"""Two gateways: a page at one sees and stops a robot at the other, without Valkey (attack 17 as far as links)."""

import asyncio
import time

import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus

from apps.kernel.types import Role
from tests import engines
from tests.factories import fleet
from tests.integration.ingest.speaking import bridge_of, page_of
from tests.served import COOKIE
from workers.protocol import StopNow

SECRET = "one secret of forty characters, at least"


@pytest.fixture(scope="module")
def pair(world):
    """Two gateways that call each other; nothing answers where Valkey should be."""
    ports = [engines.free_port(), engines.free_port()]
    names = ["gateway-a", "gateway-b"]
    shared = {"PILOTHOUSE_LINK_SECRET": SECRET, "PILOTHOUSE_VALKEY_URL": "redis://:x@127.0.0.1:9"}
    return [
        world.serve(
            "gateway",
            port=ports[number],
            PILOTHOUSE_GATEWAY_NAME=names[number],
            PILOTHOUSE_GATEWAY_LINKS=f"ws://127.0.0.1:{ports[1 - number]}",
            **shared,
        )
        for number in (0, 1)
    ]


@pytest.fixture
async def site(world):
    return await world.site()


@pytest.fixture
async def robots(world, site):
    return await world.do(fleet.make_robots, site, 3)


async def test_a_page_sees_a_robot_of_the_other_gateway(world, pair, site, robots):
    here, there = pair
    async with bridge_of(world, there, site, robots) as bridge, page_of(world, here, site, Role.VIEWER) as page:
        await page.watch(site, subjects=[robots[0].id], pictures=[{"subject": str(robots[1].id), "camera": "front", "fps": 10}])
        await bridge.states(values=(7.5, 0.25))
        await bridge.report(0, task="pick", latched=[])
        await bridge.picture(1)
        await page.until(lambda page: len(page.rows) == 3 and page.pictures, within=10)
        await page.until(lambda page: (page.report_of(robots[0]) or {}).get("report"))
        row = page.row_of(robots[0])
        assert row[4] == [7.5]
        assert abs(row[3] - time.time() * 1000) < 10_000
        assert page.report_of(robots[0])["report"]["task"] == "pick"
        assert page.subjects[page.place_of(robots[0])]["gateway"] == "gateway-b"
        assert page.pictures[0][0]["subject"] == str(robots[1].id)
        for number in range(5):
            await bridge.states(0, values=(float(number), 1.0))
            await asyncio.sleep(0.02)

        def full():
            return [row[3] for said in page.heard if said["op"] == "states" for row in said["rows"]]

        await page.until(lambda page: full()[-1:] == [[4.0, 1.0]])
        await page.say(op="ring", subject=robots[0].id, seconds=60)
        ring = await page.hear("ring")
        assert [row[3] for row in ring["rows"]][-2:] == [[3.0, 1.0], [4.0, 1.0]]


async def test_stop_reaches_the_other_gateway_at_once(world, pair, site, robots):
    here, there = pair
    async with bridge_of(world, there, site, robots) as bridge, page_of(world, here, site, Role.VIEWER) as page:
        await page.watch(site)
        await bridge.states()
        await page.until(lambda page: len(page.rows) == 3, within=10)
        pressed = time.monotonic()
        stop = await page.stop(site, robots[:1])
        now = await bridge.hear(StopNow)
        assert time.monotonic() - pressed < 2.5  # a machine that others use too; tests/faults holds the bound
        assert now.stop == stop
        assert (await page.hear("stop", stop=stop, state="sent"))["subjects"] == [str(robots[0].id)]
        await bridge.report(0, mode="stopped", latched=[stop])
        await page.hear("stop", stop=stop, state="latched")
        await page.hear("stop", stop=stop, state="recorded")
        assert not [said for said in page.heard if said["op"] == "stop" and said["state"] == "unreachable"]


async def test_a_page_that_watches_nothing_stops_there_too(world, pair, site, robots):
    here, there = pair
    async with bridge_of(world, there, site, robots) as bridge, page_of(world, here, site, Role.VIEWER) as page:
        stop = await page.stop(site)
        assert (await bridge.hear(StopNow)).stop == stop
        await page.hear("stop", stop=stop, state="sent")


async def test_a_bridge_that_moves_is_shown_from_where_it_is(world, pair, site, robots):
    here, there = pair
    credential = await world.do(fleet.credential_for, site, robots)
    async with page_of(world, here, site, Role.VIEWER) as page:
        await page.watch(site)
        async with bridge_of(world, there, site, robots, credential=credential) as first:
            await first.states(values=(1.0, 0.0))
            await page.until(lambda page: len(page.rows) == 3, within=10)
            async with bridge_of(world, here, site, robots, credential=credential) as second:
                # The older socket at the other gateway ends: its epoch is over.
                async with asyncio.timeout(3):
                    await first.socket.wait_closed()
                assert first.socket.close_code == 4409
                await second.states(values=(2.0, 0.0))
                await page.until(lambda page: page.row_of(robots[0])[4] == [2.0])
                assert page.subjects[page.place_of(robots[0])]["gateway"] == "gateway-a"
        await page.until(lambda page: page.report_of(robots[0])["link"] == "lost")


async def test_a_gateway_that_hangs_takes_its_robots_along_until_it_is_back(world, pair, site, robots):
    here, _ = pair
    third = world.serve(
        "gateway",
        PILOTHOUSE_GATEWAY_NAME="gateway-c",
        PILOTHOUSE_GATEWAY_LINKS=f"ws://127.0.0.1:{here.port}",
        PILOTHOUSE_LINK_SECRET=SECRET,
    )
    credential = await world.do(fleet.credential_for, site, robots)
    async with page_of(world, third, site, Role.VIEWER) as page:
        await page.watch(site)
        async with bridge_of(world, here, site, robots, credential=credential) as bridge:
            await bridge.states()
            await page.until(lambda page: len(page.rows) == 3, within=10)
            here.inside.suspend()
            try:
                await page.until(lambda page: page.report_of(robots[0])["link"] == "lost", within=12)
            finally:
                here.inside.resume()
        async with bridge_of(world, here, site, robots, credential=credential) as bridge:
            await page.until(lambda page: page.report_of(robots[0])["link"] == "live", within=15)
            await bridge.states(values=(6.0, 0.0))
            await page.until(lambda page: page.row_of(robots[0])[4] == [6.0])


@pytest.mark.parametrize("bearer", ["", "Bearer wrong", f"Bearer {SECRET[:-1]}", f"Basic {SECRET}"])
async def test_nobody_else_links(pair, bearer):
    headers = [("Authorization", bearer)] if bearer else []
    address = pair[0].address.replace("http", "ws") + "/link"
    with pytest.raises(InvalidStatus) as refused:
        await connect(address, additional_headers=headers, proxy=None)
    assert refused.value.response.status_code == 403


async def test_no_page_links_with_the_secret(world, pair, site):
    _, session = await world.person(site, Role.ADMIN)
    address = pair[0].address.replace("http", "ws") + "/link"
    headers = [("Authorization", f"Bearer {SECRET}"), ("Cookie", f"{COOKIE}={session}")]
    with pytest.raises(InvalidStatus) as refused:
        await connect(address, additional_headers=headers, proxy=None)
    assert refused.value.response.status_code == 403
    assert SECRET not in pair[0].log() + pair[1].log()


async def test_without_a_secret_there_are_no_links(world, gateway):
    with pytest.raises(InvalidStatus) as refused:
        address = gateway.address.replace("http", "ws") + "/link"
        await connect(address, additional_headers=[("Authorization", "Bearer ")], proxy=None)
    assert refused.value.response.status_code == 403
