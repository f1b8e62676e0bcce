"""Attack 11: wrong clocks of a gateway, a web process or a bridge change no order, no time-out and no age."""

import asyncio
import json
import time
import urllib.request
from datetime import timedelta

import pytest

from apps.kernel.types import Role, system_actor
from tests.factories import accounts, fleet
from tests.integration.ingest.speaking import bridge_of, page_of
from workers.protocol import Ack, Heartbeat, Order, StopNow

HOUR = 3600


@pytest.fixture
async def site(world):
    return await world.site()


@pytest.fixture
async def robots(world, site):
    return await world.do(fleet.make_robots, site, 2)


@pytest.mark.parametrize("wrong_s", [HOUR, -HOUR], ids=["ahead", "behind"])
async def test_a_gateway_whose_clock_is_an_hour_wrong(world, site, robots, wrong_s):
    from apps.alarms.selectors import active_among
    from apps.alarms.services import look_around
    from apps.fleet.services import place_order

    name = f"wrong-{wrong_s}"
    here = world.serve("gateway", PILOTHOUSE_TEST_CLOCK_S=str(wrong_s), PILOTHOUSE_GATEWAY_NAME=name)
    person, session = await world.person(site, Role.FLOOR_OPERATOR)
    actor = await world.do(accounts.actor_of, person)
    async with bridge_of(world, here, site, robots) as bridge, page_of(world, here, session=session) as page:
        await page.watch(site)
        beating = asyncio.create_task(_beat(bridge))
        await page.until(lambda page: page.rows)
        row = page.row_of(robots[0])
        assert abs(row[2] - time.time() * 1000) < 5000  # the bridge's own clock
        assert abs(row[3] - row[2] - wrong_s * 1000) < 5000  # ours
        now_ms = next(said["now_ms"] for said in reversed(page.heard) if said["op"] == "floor")
        assert 0 <= now_ms - row[3] < 5000  # an age is counted by one clock
        order = await world.do(place_order, actor=actor, site_id=site.id, robot_id=robots[1].id, name="reset_scene")
        heard = await bridge.hear(Order)
        ours_ms = (time.time() + wrong_s) * 1000
        assert heard.order == order.id
        assert ours_ms - 1000 < heard.valid_until_ms < ours_ms + 6000
        stop = await page.stop(site)
        assert (await bridge.hear(StopNow)).stop == stop
        await bridge.report(0, mode="stopped", latched=[stop])
        await page.hear("stop", stop=stop, state="latched")
        await page.hear("stop", stop=stop, state="recorded")
        for _ in range(2):
            await world.do(look_around, actor=system_actor("tests"))
            await asyncio.sleep(4)
        held = await world.do(active_among, [robot.id for robot in robots])
        assert not any("bridge_lost" in names for names in held.values())
        assert page.report_of(robots[0])["link"] == "live"
        beating.cancel()


@pytest.mark.parametrize("wrong_s", [HOUR, -HOUR], ids=["ahead", "behind"])
async def test_a_web_process_whose_clock_is_an_hour_wrong(world, gateway, site, robots, wrong_s):
    """What is asked of a robot reaches it at once and holds for five seconds, whoever's clock it was asked by."""
    from apps.accounts.services import create_token

    web = world.serve("web", PILOTHOUSE_TEST_CLOCK_S=str(wrong_s))
    person, _ = await world.person(site, Role.FLOOR_OPERATOR)
    actor = await world.do(accounts.actor_of, person)
    given = {"person_id": person.id, "site_id": site.id, "role": Role.FLOOR_OPERATOR, "name": "clock"}
    token = (await world.do(create_token, actor=actor, **given)).text
    path = f"{web.address}/api/v1/sites/{site.slug}/robots/{robots[1].id}/reset/"
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json", "Idempotency-Key": str(wrong_s)}

    def ask():
        with urllib.request.urlopen(urllib.request.Request(path, b"{}", headers, method="POST"), timeout=20) as answer:
            return json.load(answer)

    async with bridge_of(world, gateway, site, robots) as bridge:
        beating = asyncio.create_task(_beat(bridge))
        asked = await asyncio.to_thread(ask)
        heard = await bridge.hear(Order)
        assert str(heard.order) == asked["id"]
        assert time.time() * 1000 - 1000 < heard.valid_until_ms < time.time() * 1000 + 6000
        beating.cancel()


async def test_a_bridge_whose_clock_is_ten_minutes_ahead(world, gateway, site, robots):
    ahead = timedelta(minutes=10).total_seconds()
    async with bridge_of(world, gateway, site, robots) as bridge, page_of(world, gateway, site, Role.VIEWER) as page:
        await page.watch(site)
        sent_ms = int((time.time() + ahead) * 1000)
        await bridge.say(Heartbeat(sequence=1, sent_at_ms=sent_ms, offset_ms=-ahead * 1000, round_trip_ms=3.0))
        ack = await bridge.hear(Ack)
        assert ack.sent_at_ms - ack.server_time_ms == pytest.approx(ahead * 1000, abs=3000)
        await bridge.states(0, at_ms=sent_ms)
        await bridge.states(0, at_ms=sent_ms - 5000)  # it was set back: the sequence says which is newer
        await page.until(lambda page: page.rows and page.row_of(robots[0])[1] == 2)
        row = page.row_of(robots[0])
        assert row[2] == sent_ms - 5000
        assert abs(row[3] - time.time() * 1000) < 5000
        await page.until(lambda page: page.report_of(robots[0])["offset_ms"] == -ahead * 1000)
        assert page.report_of(robots[0])["link"] == "live"


async def _beat(bridge):
    while True:
        await bridge.states()
        await asyncio.sleep(0.1)
