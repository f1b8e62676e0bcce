"""Who opens a page's socket to the gateway, and what it may ask (attacks 19-23, 27 at the gateway)."""

import asyncio
import json
import time

import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus

from apps.kernel.types import Role, system_actor
from tests.factories import fleet
from tests.integration.ingest.speaking import Page, bridge_of, page_at, page_of, picture_of
from tests.served import COOKIE
from workers.protocol import StopNow

ANY = "00000000-0000-7000-8000-000000000001"


@pytest.fixture
async def site(world):
    return await world.site()


@pytest.fixture
async def robots(world, site):
    return await world.do(fleet.make_robots, site, 2)


async def _refusal(opening):
    with pytest.raises(InvalidStatus) as refused:
        await opening
    return refused.value.response.status_code


async def _code(socket, within=5):
    async with asyncio.timeout(within):
        await socket.wait_closed()
    return socket.close_code


@pytest.mark.parametrize(
    "origin",
    [
        None,
        "null",
        "https://evil.example",
        "http://localhost.evil.example",
        "http://localhost",
        "http://localhost:1",
        "trailing",
    ],
)
async def test_no_page_of_another_origin_gets_in(world, gateway, site, origin):
    _, session = await world.person(site, Role.ADMIN)
    given = gateway.address + "." if origin == "dot" else origin
    assert await _refusal(page_at(gateway, session, origin=given)) == 403


async def test_a_page_signs_in_by_its_session_alone(world, gateway, site):
    """Attack 20: a token on the browser's path, a cookie on the machine's."""
    robots = await world.do(fleet.make_robots, site, 1)
    credential = await world.do(fleet.credential_for, site, robots)
    bearer = [("Authorization", f"Bearer {credential}")]
    _, session = await world.person(site, Role.ADMIN)
    assert await _refusal(page_at(gateway, headers=bearer)) == 403
    assert await _refusal(page_at(gateway, session, headers=bearer)) == 403
    assert await _refusal(page_at(gateway, session, path="/control?session=" + session)) == 403
    assert await _refusal(page_at(gateway, session, path="/machine", origin=None)) == 403
    assert await _refusal(page_at(gateway, session, headers=[("Host", "rebound.example")])) in {400, 403}
    assert await _refusal(page_at(gateway, session, path="/controls")) == 404
    assert session not in gateway.log()


@pytest.mark.parametrize("session", ["", "x" * 32], ids=["none", "unknown"])
async def test_without_a_session_it_is_closed(gateway, session):
    async with page_at(gateway, session) as socket:
        assert await _code(socket) == 4401


async def _sign_out(world, site, person, session):
    from django.contrib.sessions.models import Session

    await world.do(Session.objects.filter(pk=session).delete)


async def _remove_role(world, site, person, session):
    from apps.accounts.services import revoke_role

    await world.do(revoke_role, actor=system_actor("tests"), site_id=site.id, person_id=person.id, role=Role.VIEWER)


async def _deactivate(world, site, person, session):
    from apps.accounts.models import Person

    await world.do(Person.objects.filter(id=person.id).update, is_active=False)


@pytest.mark.parametrize(("end", "code"), [(_sign_out, 4401), (_remove_role, 4403), (_deactivate, 4401)])
async def test_the_socket_closes_within_a_second_and_tells_nothing_more(world, gateway, site, robots, end, code):
    """Attack 21."""
    person, session = await world.person(site, Role.VIEWER)
    async with bridge_of(world, gateway, site, robots) as bridge, page_at(gateway, session) as socket:
        page = Page(socket)
        await page.watch(site)
        await bridge.states(0)
        await page.until(lambda page: page.rows)
        await end(world, site, person, session)
        ended = time.monotonic()
        while socket.close_code is None and time.monotonic() - ended < 5:
            await bridge.states(0)
            await asyncio.sleep(0.05)
        assert socket.close_code == code
        assert time.monotonic() - ended < 1.5
        await bridge.hear(StopNow, within=0.1) if bridge.count(StopNow) else None


async def test_a_role_that_was_lost_stops_nothing(world, gateway, site, robots):
    person, session = await world.person(site, Role.VIEWER)
    async with bridge_of(world, gateway, site, robots) as bridge, page_of(world, gateway, session=session) as page:
        await _remove_role(world, site, person, session)
        await asyncio.sleep(1.0)
        await page.stop(site)  # it watches nothing, so its socket is still open
        assert (await page.hear("refused"))["code"] == "not_found"
        assert bridge.count(StopNow) == 0


async def test_another_sites_floor_does_not_exist(world, gateway, site, robots):
    """Attack 22: by guessing its id."""
    elsewhere = await world.site()
    async with (
        bridge_of(world, gateway, site, robots) as bridge,
        page_of(world, gateway, elsewhere, *Role) as page,
    ):
        await bridge.states()
        await bridge.picture(0)
        await page.watch(site, subjects=[robots[0].id])
        assert (await page.hear("refused", what="watch"))["code"] == "not_found"
        await page.say(op="ring", subject=robots[0].id, seconds=10)
        assert (await page.hear("refused", what="ring"))["code"] == "not_found"
        # Its robots and cameras by our own site.
        await page.watch(elsewhere, subjects=[robots[0].id], pictures=[{"subject": str(robots[0].id), "camera": "front"}])
        await bridge.states()
        await asyncio.sleep(1.0)
        assert not page.subjects
        assert not page.rows
        assert not page.pictures
        assert not [
            said for said in page.heard if said["op"] in {"states", "reports"} and (said.get("rows") or said.get("list"))
        ]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        '{"op":"drive"}',
        '{"op":"watch"}',
        '{"op":"watch","site":"x"}',
        json.dumps({"op": "watch", "site": ANY, "more": 1}),
        json.dumps({"op": "watch", "site": ANY, "subjects": [ANY] * 5}),
        json.dumps({"op": "watch", "site": ANY, "pictures": [{"subject": ANY, "camera": "a", "fps": 1000}]}),
        json.dumps({"op": "stop", "site": ANY, "stop": ANY, "subjects": []}),
        "[" * 50_000,
        b"\x00\x01",
    ],
)
async def test_what_is_no_frame_ends_the_socket(world, gateway, site, text):
    async with page_of(world, gateway, site, Role.VIEWER) as page:
        await page.socket.send(text)
        assert await _code(page.socket) == 4400


async def test_a_frame_that_is_too_large_ends_the_socket(world, gateway, site):
    async with page_of(world, gateway, site, Role.VIEWER) as page:
        with pytest.raises(ConnectionClosed):
            await page.socket.send('{"op":"ping","t":' + "1" * 200_000 + "}")
            await page.socket.wait_closed()
            raise ConnectionClosed(None, None)
        assert page.socket.close_code in {1009, 4400}


@pytest.mark.parametrize("frame", ['{"op":"ping","t":1}', None], ids=["messages", "pings"])
async def test_a_flood_ends_the_socket(world, gateway, site, frame):
    async with page_of(world, gateway, site, Role.VIEWER) as page:
        with pytest.raises(ConnectionClosed):
            for _ in range(5000):
                await (page.socket.send(frame) if frame else page.socket.ping())
                await asyncio.sleep(0)
            await page.socket.wait_closed()
            raise ConnectionClosed(None, None)
        assert await _code(page.socket) in {4429, 1006}


async def test_a_page_that_asks_too_much_can_still_stop(world, gateway, site, robots):
    """Attack 27: Stop has a rate of its own."""
    async with bridge_of(world, gateway, site, robots) as bridge, page_of(world, gateway, site, Role.VIEWER) as page:
        for _ in range(55):
            await page.say(op="ping", t=1)
        for stop in [await page.stop(site) for _ in range(20)]:
            await bridge.hear(StopNow, stop=stop)
        assert page.socket.close_code is None


async def test_one_person_has_so_many_sockets_and_no_more(world, gateway, site):
    _, session = await world.person(site, Role.VIEWER)
    opened = []
    try:
        for _ in range(64):
            opened.append(await page_at(gateway, session))
            page = Page(opened[-1])
            await page.say(op="ping", t=1)
            await page.hear("pong", within=10)
        async with page_at(gateway, session) as one_more:
            assert await _code(one_more) == 4429
    finally:
        for socket in opened:
            await socket.close()


async def test_nothing_is_kept_of_a_page_that_left(world, gateway, site, robots):
    before = gateway.insides()
    async with page_of(world, gateway, site, Role.VIEWER) as page:
        await page.watch(site, subjects=[robots[0].id])
        await page.stop(site)
        await page.hear("stop", state="recorded")
    await asyncio.sleep(1.0)
    after = gateway.insides()
    assert {name: after[name] for name in ("viewers", "operators", "watchers")} == {
        name: before[name] for name in ("viewers", "operators", "watchers")
    }
    assert COOKIE not in gateway.log()


async def test_a_page_that_never_reads_costs_nothing(world, gateway, site):
    """Attack 24: the floor of four hundred robots for somebody who does not look."""
    robots = await world.do(fleet.make_robots, site, 60)
    _, session = await world.person(site, Role.VIEWER)
    async with bridge_of(world, gateway, site, robots) as bridge, page_of(world, gateway, site, Role.VIEWER) as looking:
        await looking.watch(site)
        async with page_at(gateway, session, max_queue=1) as socket:
            await socket.send(json.dumps({"op": "watch", "site": str(site.id), "floor": True}))
            await asyncio.sleep(0.5)
            before = gateway.memory()
            for _ in range(100):
                await bridge.states()
                await asyncio.sleep(0.03)
            assert gateway.memory() - before < 20
        await looking.until(lambda page: len(page.rows) == 60)
        newest = max(row[1] for row in looking.rows.values())
        await looking.until(lambda page: all(row[1] == newest for row in page.rows.values()))


async def test_a_slow_page_ends_in_what_the_gateway_has(world, gateway, site):
    """Attack 25: a thousand states and pictures beyond what it takes; then no row of it stays behind."""
    robots = await world.do(fleet.make_robots, site, 20)
    _, session = await world.person(site, Role.VIEWER)
    jpegs = [picture_of(9, number, size=(640, 480)) for number in range(5)]
    rows, places = {}, {}

    def take(frame):
        said = json.loads(frame) if isinstance(frame, str) else {"op": "picture"}
        if said["op"] == "floor":
            rows.update({row[0]: row[1] for row in said["rows"]})
        elif said["op"] == "subjects":
            places.update({one["i"]: one["id"] for one in said["list"]})

    async with bridge_of(world, gateway, site, robots) as bridge, page_at(gateway, session, max_queue=1) as socket:
        watched = [{"subject": str(robot.id), "camera": "front", "fps": 10} for robot in robots[:3]]
        await socket.send(json.dumps({"op": "watch", "site": str(site.id), "floor": True, "pictures": watched}))
        last = {}
        for count in range(1, 76):
            moving = range(20) if count <= 40 else range(1)  # most say their last while the page is behind
            last |= dict.fromkeys(moving, await bridge.states(*moving))
            for number in range(3):
                await bridge.picture(number, sequence=count, jpeg=jpegs[count % 5])
            if count % 8 == 0:
                take(await socket.recv())
            await asyncio.sleep(0.04)
        expected = {str(robots[number].id): sequence for number, sequence in last.items()}
        async with asyncio.timeout(20):
            while {name: rows.get(place) for place, name in places.items()} != expected:
                take(await socket.recv())
