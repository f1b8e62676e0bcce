"""The channel layer carries hints and nothing else; without it pages are as live by the poll."""

import asyncio
import json
import os
import signal
import time
import urllib.request

import pytest
import redis
from channels.layers import get_channel_layer

from apps.accounts.events import site_stream
from apps.kernel.types import Role
from apps.realtime import reactions
from apps.realtime.topics import group_of
from console.embedded.valkey import Server
from tests.engines import free_port
from tests.served import follow, hear, page_of

LIVE_WITHIN_S, RESYNC_S = 2.0, 5.0


@pytest.fixture
def own_valkey(tmp_path):
    """A Valkey that may be stopped and hung without hurting other tests."""
    server = Server(tmp_path / "valkey", free_port())
    server.start()
    yield server
    server.stop()


async def test_a_hint_says_stream_and_sequence_only(world):
    site = await world.site()
    layer = get_channel_layer()
    await layer.group_add(group_of(site_stream(site.id)), "test.hints")
    await world.grow(site_stream(site.id), site.id)
    async with asyncio.timeout(5):
        hint = await layer.receive("test.hints")
    assert hint == {"type": "grown", "stream": site_stream(site.id), "sequence": 1}


async def test_pages_stay_live_without_valkey(world, own_valkey):
    """Attack 7: a page that is open, and one that is opened meanwhile."""
    web = world.serve("web", PILOTHOUSE_VALKEY_URL=own_valkey.url())
    site = await world.site()
    _, session = await world.person(site, Role.ADMIN)
    topic = f"site.people:{site.id}"
    async with page_of(web, session) as socket:
        await follow(socket, topic)
        await asyncio.to_thread(own_valkey.stop)
        for position in (1, 2, 3):
            await world.grow(site_stream(site.id), site.id)
            began = time.monotonic()
            assert (await hear(socket, "fragments", "resync"))["position"] == position
            assert time.monotonic() - began < LIVE_WITHIN_S
        async with page_of(web, session) as second:
            await follow(second, topic)
            assert (await hear(second, "fragments", "resync"))["position"] == 3


async def test_pages_follow_when_everything_in_valkey_goes(world, own_valkey):
    """Attack 6: whoever asked for hints is forgotten with everything else, and pages are level within five seconds."""
    web = world.serve("web", PILOTHOUSE_VALKEY_URL=own_valkey.url())
    site = await world.site()
    _, session = await world.person(site, Role.ADMIN)
    topic = f"site.people:{site.id}"
    async with page_of(web, session) as socket:
        await follow(socket, topic)
        for position in (1, 2):
            with redis.Redis.from_url(own_valkey.url(), socket_timeout=5) as client:
                client.flushall()
            await world.grow(site_stream(site.id), site.id)
            assert (await hear(socket, "fragments", "resync", within=RESYNC_S))["position"] == position


def _readiness(web):
    with urllib.request.urlopen(f"{web.address}/readyz", timeout=10) as answer:
        return json.load(answer)


async def test_readiness_tells_that_valkey_is_away_and_that_it_is_back(world, own_valkey):
    """Attack 7: degraded, not unavailable; and nobody has to be started again."""
    web = world.serve("web", PILOTHOUSE_VALKEY_URL=own_valkey.url())
    assert _readiness(web)["parts"]["valkey"] == "ok"
    await asyncio.to_thread(own_valkey.stop)
    told = await asyncio.to_thread(_readiness, web)
    assert (told["status"], told["parts"]["valkey"]) == ("degraded", "does not answer")
    await asyncio.to_thread(own_valkey.start)
    assert (await asyncio.to_thread(_readiness, web))["parts"]["valkey"] == "ok"
    assert web.process.poll() is None


@pytest.mark.parametrize("hung", [False, True], ids=["gone", "hung"])
async def test_valkey_slows_no_act(world, own_valkey, settings, hung):
    site = await world.site()
    if hung:
        os.kill(own_valkey._running.pid, signal.SIGSTOP)
    else:
        await asyncio.to_thread(own_valkey.stop)
    config = {**settings.CHANNEL_LAYERS["default"]["CONFIG"], "hosts": [f"{own_valkey.url()}/1"]}
    settings.CHANNEL_LAYERS = {"default": {**settings.CHANNEL_LAYERS["default"], "CONFIG": config}}
    try:
        for number in range(5000):
            reactions.stream_grown(f"accounts.site:{number}", 1)
        began = time.monotonic()
        await world.grow(site_stream(site.id), site.id, 20)
        took = time.monotonic() - began
    finally:
        if hung:
            os.kill(own_valkey._running.pid, signal.SIGCONT)
    assert took < 2.0
