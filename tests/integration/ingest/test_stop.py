"""Stop goes out first and is recorded second; what was missed is sent again (attacks 17 and 18 as far as the gateway)."""

import asyncio
import json
import signal
import time
import urllib.error
import urllib.request
from uuid import UUID, uuid4

import pytest

from apps.kernel.types import Role
from tests.factories import fleet
from tests.integration.ingest.speaking import bridge_of, page_of
from tests.integration.ingest.wire import Wire
from tests.served import COOKIE
from workers.protocol import ClearStop, StopLatched, StopNow


@pytest.fixture
async def site(world):
    return await world.site()


@pytest.fixture
async def robots(world, site):
    return await world.do(fleet.make_robots, site, 3)


def _named(*robots):
    return [f"robot:{robot.id}" for robot in robots]


async def _recorded(world, stop, within=5.0):
    """The row of a Stop, once it is there."""
    from apps.control.models import Stop

    ends = time.monotonic() + within
    while time.monotonic() < ends:
        row = await world.do(lambda: Stop.objects.filter(id=stop, is_recorded=True).first())
        if row is not None:
            return row
        await asyncio.sleep(0.05)
    raise AssertionError(f"{stop} was not recorded within {within} s")


async def _never(bridge, kind, seconds=1.5):
    await asyncio.sleep(seconds)
    assert bridge.count(kind) == 0


async def test_sent_then_latched_then_recorded(world, gateway, site, robots):
    async with bridge_of(world, gateway, site, robots) as bridge, page_of(world, gateway, site, Role.VIEWER) as page:
        pressed = time.monotonic()
        stop = await page.stop(site, robots[:2])
        now = await bridge.hear(StopNow)
        assert time.monotonic() - pressed < 2.5  # a machine that others use too; tests/faults holds the bound
        assert (now.stop, sorted(now.subjects)) == (stop, sorted(_named(*robots[:2])))
        assert now.by.startswith("Someone")
        sent = await page.hear("stop", stop=stop, state="sent")
        assert sorted(sent["subjects"]) == sorted(str(robot.id) for robot in robots[:2])
        await bridge.report(0, mode="stopped", latched=[stop])
        latched = await page.hear("stop", stop=stop, state="latched")
        assert (latched["subject"], latched["subjects"]) == (str(robots[0].id), [str(robots[0].id)])
        assert (await page.hear("stop", stop=stop, state="recorded"))["subjects"] == []
        row = await _recorded(world, stop)
        assert (row.site_id, row.is_whole_site, row.gateway) == (site.id, False, "gateway")


async def test_the_whole_site_and_whoever_connects_later(world, gateway, site, robots):
    later = await world.do(fleet.make_robot, site)
    async with bridge_of(world, gateway, site, robots) as bridge, page_of(world, gateway, site, Role.AUDITOR) as page:
        stop = await page.stop(site)
        assert sorted((await bridge.hear(StopNow)).subjects) == sorted(_named(*robots))
        await _recorded(world, stop)
        async with bridge_of(world, gateway, site, [later]) as another:
            assert (await another.hear(StopNow, within=2)).stop == stop


async def test_it_is_sent_again_until_the_robot_says_that_it_holds(world, gateway, site, robots):
    async with bridge_of(world, gateway, site, robots) as bridge, page_of(world, gateway, site, Role.VIEWER) as page:
        stop = await page.stop(site, robots[:1])
        for _ in range(3):
            assert (await bridge.hear(StopNow, within=3)).stop == stop
        await bridge.report(0, mode="stopped", latched=[stop])
        await asyncio.sleep(0.5)
        bridge.heard.clear()
        await _never(bridge, StopNow, 2.5)


async def test_nobody_speaks_for_it_now_is_said_and_made_up_for(world, gateway, site, robots):
    async with page_of(world, gateway, site, Role.VIEWER) as page:
        stop = await page.stop(site, robots[:1])
        assert (await page.hear("stop", stop=stop, state="unreachable"))["subjects"] == [str(robots[0].id)]
        async with bridge_of(world, gateway, site, robots) as bridge:
            now = await bridge.hear(StopNow, within=3)
            assert (now.stop, now.subjects) == (stop, _named(robots[0]))


async def test_a_bridge_that_begins_anew_is_told_whatever_it_said_before(world, gateway, site, robots):
    """Its latch may be gone: what another boot reported counts for nothing, and no report of this one is waited for."""
    credential = await world.do(fleet.credential_for, site, robots)
    async with page_of(world, gateway, site, Role.VIEWER) as page:
        async with bridge_of(world, gateway, site, robots, credential=credential) as bridge:
            stop = await page.stop(site, robots[:1])
            await bridge.hear(StopNow)
            await bridge.report(0, mode="stopped", latched=[stop])
            await page.hear("stop", stop=stop, state="latched")
        async with bridge_of(world, gateway, site, robots, credential=credential) as again:
            assert (await again.hear(StopNow, within=3)).stop == stop


async def test_what_was_cleared_is_told_to_who_still_holds(world, gateway, site, robots):
    from apps.control.models import Stop
    from apps.control.types import Phase

    credential = await world.do(fleet.credential_for, site, robots)
    async with page_of(world, gateway, site, Role.VIEWER) as page:
        async with bridge_of(world, gateway, site, robots, credential=credential) as bridge:
            stop = await page.stop(site, robots[:1])
            await bridge.hear(StopNow)
            await bridge.report(0, mode="stopped", latched=[stop])
            await _recorded(world, stop)
        await world.do(lambda: Stop.objects.filter(id=stop).update(phase=Phase.CLEARED))
        unknown = uuid4()
        fresh = world.serve("gateway")  # another process, to which nothing was pressed a moment ago
        async with bridge_of(world, fresh, site, robots, credential=credential) as bridge:
            await bridge.report(0, mode="stopped", latched=[stop, unknown])
            clear = await bridge.hear(ClearStop, within=3)
            assert (clear.stop, clear.subjects) == (stop, _named(robots[0]))
            bridge.heard.clear()
            await bridge.report(0, sequence=2, mode="stopped", latched=[unknown])
            await _never(bridge, ClearStop, 2.0)  # a Stop that nobody knows holds


async def test_the_fact_of_a_latch_is_told_before_it_is_committed(world, gateway, site, robots):
    async with bridge_of(world, gateway, site, robots) as bridge, page_of(world, gateway, site, Role.VIEWER) as page:
        stop = await page.stop(site, robots[:1])
        await bridge.hear(StopNow)
        body = StopLatched(stop=stop, received_at_ms=int(time.time() * 1000), ended_at_ms=int(time.time() * 1000))
        await bridge.say(fleet.facts_of(bridge.hello.boot, robots[0], body))
        await page.hear("stop", stop=stop, state="latched")


@pytest.mark.parametrize("role", list(Role))
async def test_every_role_of_the_site_stops_and_nobody_else(world, gateway, site, robots, role):
    elsewhere = await world.site()
    async with bridge_of(world, gateway, site, robots) as bridge:
        async with page_of(world, gateway, elsewhere, *Role) as outsider:
            await outsider.stop(site)
            assert (await outsider.hear("refused"))["code"] == "not_found"
            await outsider.watch(elsewhere)
            await outsider.stop(elsewhere, robots)  # our robots, by their site
            await outsider.hear("stop", state="unreachable")
        assert bridge.count(StopNow) == 0
        async with page_of(world, gateway, site, role) as page:
            stop = await page.stop(site, robots)
            assert (await bridge.hear(StopNow)).stop == stop


def _post(gateway, session, body, *, origin="", kind="application/json", method="POST"):
    headers = {"Content-Type": kind, "Origin": origin or gateway.address}
    if session:
        headers["Cookie"] = f"{COOKIE}={session}"
    request = urllib.request.Request(f"{gateway.address}/stop", data=body, headers=headers, method=method)
    try:
        with urllib.request.urlopen(request, timeout=5) as response:
            return response.status, json.loads(response.read() or b"{}"), response.headers
    except urllib.error.HTTPError as error:
        return error.code, json.loads(error.read() or b"{}"), error.headers


async def test_a_page_without_a_socket_posts_it(world, gateway, site, robots):
    _, session = await world.person(site, Role.VIEWER)
    stop = uuid4()
    body = json.dumps({"stop": str(stop), "site": str(site.id), "subjects": [str(robots[0].id)]}).encode()
    async with bridge_of(world, gateway, site, robots) as bridge:
        status, answer, headers = await asyncio.to_thread(_post, gateway, session, body)
        assert status == 202
        assert answer["subjects"] == [{"subject": str(robots[0].id), "state": "sent"}]
        assert headers["access-control-allow-origin"] == gateway.address
        assert headers["access-control-allow-credentials"] == "true"
        assert (await bridge.hear(StopNow)).stop == stop
    await _recorded(world, stop)


async def test_no_other_page_posts_it(world, gateway, site, robots):
    _, session = await world.person(site, Role.VIEWER)
    _, stranger = await world.person(await world.site(), Role.ADMIN)
    body = json.dumps({"stop": str(uuid4()), "site": str(site.id)}).encode()
    async with bridge_of(world, gateway, site, robots) as bridge:
        for status, given in [
            (403, {"session": session, "origin": "https://elsewhere.example"}),
            (403, {"session": session, "origin": "null"}),
            (401, {"session": ""}),
            (401, {"session": "x" * 32}),
            (404, {"session": stranger}),
            (415, {"session": session, "kind": "text/plain"}),
            (400, {"session": session, "body": b"{}"}),
            (400, {"session": session, "body": b"{" * 100_000}),
            (400, {"session": session, "body": body[:-1] + b', "pressed_at_ms": -1000000000000000000}'}),
            (405, {"session": session, "method": "PUT"}),
        ]:
            found = await asyncio.to_thread(_post, gateway, given.pop("session"), given.pop("body", body), **given)
            assert found[0] == status, given
            assert status != 403 or "access-control-allow-origin" not in found[2]
        assert bridge.count(StopNow) == 0


async def test_one_that_cannot_be_recorded_keeps_no_other_from_it(world, site, robots, tmp_path):
    """What lies in the spool is from an earlier process, or a disk that went bad."""
    spool = tmp_path / "gateway" / "gateway" / "stops.jsonl"
    spool.parent.mkdir(parents=True)
    bad = {"stop": str(uuid4()), "site": str(uuid4()), "subjects": None, "pressed_at_ms": -(10**18), "received_ms": -(10**18)}
    spool.write_text(
        json.dumps(bad | {"person": str(uuid4()), "name": "x", "roles": ["viewer"], "sent_to": ["robot:no"]}) + "\n"
    )
    here = world.serve("gateway", PILOTHOUSE_DATA=str(tmp_path))
    async with bridge_of(world, here, site, robots) as bridge, page_of(world, here, site, Role.VIEWER) as page:
        stop = await page.stop(site, robots)
        await bridge.hear(StopNow)
        await page.hear("stop", stop=stop, state="recorded", within=10)
    await _recorded(world, stop)


async def test_a_stop_goes_out_where_the_disk_takes_nothing(world, site, robots, tmp_path):
    """Attack 9: it acts and is recorded; when there is room again it is spooled again."""
    here = world.serve("gateway", PILOTHOUSE_DATA=str(tmp_path))
    spool = tmp_path / "gateway" / "gateway" / "stops.jsonl"
    async with bridge_of(world, here, site, robots) as bridge, page_of(world, here, site, Role.VIEWER) as page:
        spool.parent.mkdir(parents=True, exist_ok=True)  # after the gateway looked at what an earlier one left
        spool.symlink_to("/dev/full")
        stop = await page.stop(site, robots)
        assert (await bridge.hear(StopNow)).stop == stop
        await page.hear("stop", stop=stop, state="sent")
        await page.hear("stop", stop=stop, state="recorded")
        await _recorded(world, stop)
        assert "No space left" in here.log()
        spool.unlink()
        second = await page.stop(site, robots)
        await page.hear("stop", stop=second, state="recorded")
        assert str(second) in spool.read_text()


class TestWithoutTheDatabase:
    """Sockets that are open work on; what was pressed is recorded as soon as it can be."""

    @pytest.fixture
    def wire(self, world):
        made = Wire(world.url)
        yield made
        made.stop()

    async def test_stop_works_and_is_recorded_later(self, world, site, robots, wire):
        here = world.serve("gateway", PILOTHOUSE_DATABASE_URL=wire.url)
        _, session = await world.person(site, Role.VIEWER)
        async with bridge_of(world, here, site, robots) as bridge, page_of(world, here, session=session) as page:
            wire.cut()
            await asyncio.sleep(1.5)
            pressed = time.monotonic()
            stop = await page.stop(site, robots)
            assert (await bridge.hear(StopNow)).stop == stop
            assert time.monotonic() - pressed < 2.5  # a machine that others use too; tests/faults holds the bound
            await page.hear("stop", stop=stop, state="sent")
            await bridge.report(0, mode="stopped", latched=[stop])
            await page.hear("stop", stop=stop, state="latched")
            posted = json.dumps({"stop": str(uuid4()), "site": str(site.id)}).encode()
            pressed = time.monotonic()
            status, _, _ = await asyncio.to_thread(_post, here, session, posted)
            assert status == 202  # known from its open socket, so that nothing is asked of the database first
            assert time.monotonic() - pressed < 2.5
            wire.mend()
            await page.hear("stop", stop=stop, state="recorded", within=15)
        await _recorded(world, stop)

    async def test_a_killed_gateway_loses_no_stop(self, world, site, robots, wire, tmp_path):
        data = {"PILOTHOUSE_DATABASE_URL": wire.url, "PILOTHOUSE_DATA": str(tmp_path)}
        here = world.serve("gateway", **data)
        async with page_of(world, here, site, Role.VIEWER) as page, bridge_of(world, here, site, robots) as bridge:
            wire.cut()
            stop = await page.stop(site, robots)
            await bridge.hear(StopNow)
            await page.hear("stop", stop=stop, state="sent")
            spool = tmp_path / "gateway" / "gateway" / "stops.jsonl"
            async with asyncio.timeout(10):  # it acts first and is kept a moment later, on a disk that others use too
                while not (spool.exists() and str(stop) in spool.read_text()):
                    await asyncio.sleep(0.02)
            here.process.send_signal(signal.SIGKILL)
            here.process.wait()
        wire.mend()
        world.serve("gateway", **data)
        row = await _recorded(world, stop, within=15)
        assert UUID(str(row.id)) == stop
