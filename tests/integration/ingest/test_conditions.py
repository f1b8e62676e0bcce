"""What the gateway tells alarms by itself: bridges lost, states stale, cameras frozen, black, foreign (attack 71)."""

import asyncio
import itertools
import time
from contextlib import asynccontextmanager

import pytest

from apps.kernel.types import Role
from tests.factories import fleet
from tests.integration.ingest.speaking import black_picture, bridge_of, page_of, picture_of

_NUMBERS = itertools.count(1000, 100)


@pytest.fixture
async def site(world):
    return await world.site()


@pytest.fixture
async def robots(world, site):
    return await world.do(fleet.make_robots, site, 2)


async def _held(world, robots):
    from apps.alarms.selectors import active_among

    found = await world.do(active_among, [robot.id for robot in robots])
    return {(number, name) for number, robot in enumerate(robots) for name in found.get(robot.id, ())}


async def _until(world, robots, wanted, within=12.0):
    """Wait for exactly these alarms, as (number of the robot, definition)."""
    ends, found = time.monotonic() + within, None
    while time.monotonic() < ends:
        found = await _held(world, robots)
        if found == wanted:
            return
        await asyncio.sleep(0.2)
    raise AssertionError(f"{found} after {within} s, expected {wanted}")


@asynccontextmanager
async def _alive(bridge, *numbers, picture=None):
    """Meanwhile these say ten states a second, and their cameras what `picture(number, count)` makes, twice a second."""

    async def speak():
        count = 0
        while True:
            count += 1
            await bridge.states(*numbers)
            for number in numbers:
                jpeg = picture(number, count) if picture and count % 5 == 0 else None
                if jpeg:
                    await bridge.picture(number, sequence=int(time.time() * 1000), jpeg=jpeg)
            await asyncio.sleep(0.1)

    task = asyncio.create_task(speak())
    try:
        yield
    finally:
        task.cancel()


async def test_a_lost_bridge_is_an_alarm_until_it_is_back(world, gateway, site, robots):
    credential = await world.do(fleet.credential_for, site, robots)
    async with bridge_of(world, gateway, site, robots, credential=credential) as bridge, _alive(bridge, 0, 1):
        await asyncio.sleep(1.5)
        assert await _held(world, robots) == set()
    await _until(world, robots, {(0, "bridge_lost"), (1, "bridge_lost")})
    async with bridge_of(world, gateway, site, robots, credential=credential) as bridge, _alive(bridge, 0, 1):
        await _until(world, robots, set())


async def test_a_bridge_that_came_back_elsewhere_is_not_lost(world, gateway, site, robots):
    another = world.serve("gateway", PILOTHOUSE_GATEWAY_NAME="another")
    credential = await world.do(fleet.credential_for, site, robots)
    async with (
        bridge_of(world, gateway, site, robots, credential=credential),
        bridge_of(world, another, site, robots, credential=credential) as bridge,
        _alive(bridge, 0, 1),
    ):
        for _ in range(25):
            assert "bridge_lost" not in {name for _, name in await _held(world, robots)}
            await asyncio.sleep(0.2)


async def test_a_robot_whose_states_stop_is_stale(world, gateway, site, robots):
    async with bridge_of(world, gateway, site, robots) as bridge:
        async with _alive(bridge, 1):
            await _until(world, robots, {(0, "state_stale")})
        async with _alive(bridge, 0, 1):
            await _until(world, robots, set())


@pytest.mark.parametrize(
    ("fault", "picture"),
    [
        ("frozen", lambda number, count, mine: picture_of(mine + number, 0 if number == 0 else count)),
        ("black", lambda number, count, mine: picture_of(mine, count) if number else black_picture(count)),
        ("foreign", lambda number, count, mine: picture_of(mine, count if number else count - 5)),
        ("frozen", lambda number, count, mine: picture_of(mine + number, count) if number or count <= 10 else None),
    ],
    ids=["frozen", "black", "foreign", "none any more"],
)
async def test_a_camera_that_shows_nothing_true(world, gateway, site, robots, fault, picture):
    """Attack 71: within five seconds the page is told, then it is an alarm; when it shows something again, both end."""
    mine = next(_NUMBERS)  # no other test shows these: the gateway remembers who showed what
    async with bridge_of(world, gateway, site, robots) as bridge, page_of(world, gateway, site, Role.VIEWER) as page:
        await page.watch(site, pictures=[{"subject": str(robot.id), "camera": "front", "fps": 10} for robot in robots])
        began = time.monotonic()
        async with _alive(bridge, 0, 1, picture=lambda number, count: picture(number, count, mine)):
            await page.until(lambda page: (page.report_of(robots[0]) or {}).get("cameras") == {"front": fault}, within=8)
            assert time.monotonic() - began < 7
            await page.until(lambda page: any(_is_of(header, robots[0], fault) for header, _ in page.pictures))
            await _until(world, robots, {(0, f"camera_{fault}")})
            assert page.report_of(robots[1])["cameras"] == {}
        async with _alive(bridge, 0, 1, picture=lambda number, count: picture_of(mine + number + 7, count)):
            await _until(world, robots, set())
            assert page.socket.close_code is None
            await page.until(lambda page: page.report_of(robots[0])["cameras"] == {}, within=2)


def _is_of(header, robot, fault):
    return header["subject"] == str(robot.id) and header["fault"] == fault


async def test_a_still_robot_is_no_frozen_camera(world, gateway, site, robots):
    """Only the clock in the picture moves."""
    async with (
        bridge_of(world, gateway, site, robots) as bridge,
        _alive(bridge, 0, 1, picture=lambda number, count: picture_of(number + 3, count, brightness=90)),
    ):
        await asyncio.sleep(7)
        assert await _held(world, robots) == set()


async def test_a_gateway_that_comes_back_ends_what_it_said_before(world, site, robots, tmp_path):
    first = world.serve("gateway", PILOTHOUSE_GATEWAY_NAME="once")
    credential = await world.do(fleet.credential_for, site, robots)
    async with bridge_of(world, first, site, robots, credential=credential) as bridge, _alive(bridge, 1):
        await _until(world, robots, {(0, "state_stale")})
    first.process.kill()
    first.process.wait()
    second = world.serve("gateway", PILOTHOUSE_GATEWAY_NAME="once")
    async with bridge_of(world, second, site, robots, credential=credential) as bridge, _alive(bridge, 0, 1):
        await _until(world, robots, set())


async def test_a_bridge_that_never_comes_back_after_a_restart_is_lost(world, site, robots):
    first = world.serve("gateway", PILOTHOUSE_GATEWAY_NAME="twice")
    async with bridge_of(world, first, site, robots) as bridge, _alive(bridge, 0, 1):
        first.process.kill()
        first.process.wait()
    world.serve("gateway", PILOTHOUSE_GATEWAY_NAME="twice")
    await _until(world, robots, {(0, "bridge_lost"), (1, "bridge_lost")}, within=30)
