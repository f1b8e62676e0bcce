"""Attacks 24 and 26: pages that never read, and pages that come and go. A twentieth of the time in every test run."""

import asyncio
import base64
import os
import socket as sockets
import time
from contextlib import suppress

import pytest
import redis
from websockets.exceptions import ConnectionClosed

from apps.accounts.events import site_stream
from apps.kernel.types import Role
from apps.realtime.topics import group_of
from tests.served import COOKIE, append, follow, hear, page_of

LONG_S = 600
TWENTIETH_S = LONG_S / 20
DURATIONS = [
    pytest.param(TWENTIETH_S, marks=pytest.mark.timeout(180), id="short"),
    pytest.param(LONG_S, marks=[pytest.mark.faults, pytest.mark.timeout(LONG_S + 180)], id="long"),
]
WITHOUT_GUARD_S = 14  # longer than the deadline of a send: enough to see what is held that must not be
SILENT, EVENTS_PER_SECOND = 200, 50
CONNECTS_PER_MINUTE = 2000


def _silent_page(web, session: str, topic: str) -> sockets.socket:
    """A page that subscribes and then reads nothing ever again, not even in its kernel."""
    opened = sockets.socket()
    opened.setsockopt(sockets.SOL_SOCKET, sockets.SO_RCVBUF, 4096)
    opened.settimeout(20)
    opened.connect(("127.0.0.1", web.port))
    key = base64.b64encode(os.urandom(16)).decode()
    lines = [
        "GET /ws/ HTTP/1.1",
        f"Host: localhost:{web.port}",
        "Upgrade: websocket",
        "Connection: Upgrade",
        f"Sec-WebSocket-Key: {key}",
        "Sec-WebSocket-Version: 13",
        f"Origin: {web.address}",
        f"Cookie: {COOKIE}={session}",
    ]
    opened.sendall("\r\n".join([*lines, "", ""]).encode())
    assert opened.recv(12) == b"HTTP/1.1 101"
    frame = f'{{"op":"subscribe","topics":[{{"topic":"{topic}"}}]}}'.encode()
    opened.sendall(b"\x81" + bytes([0x80 | 126]) + len(frame).to_bytes(2, "big") + b"\0\0\0\0" + frame)
    return opened


def _grow_steadily(stream, site_id, seconds):
    ends = time.monotonic() + seconds
    written = 0
    while (now := time.monotonic()) < ends:
        append(stream, site_id)
        written += 1
        time.sleep(max(0.0, 1 / EVENTS_PER_SECOND - (time.monotonic() - now)))
    return written


@pytest.fixture
def lasting(request, seconds):
    """How long the attack lasts: as asked, or as long as its failing takes when its guard is off."""
    return WITHOUT_GUARD_S if request.config.getoption("--guard-off") else seconds


@pytest.mark.parametrize("seconds", DURATIONS)
async def test_pages_that_never_read_are_dropped(world, lasting):
    seconds, web = lasting, world.serve("web")
    site = await world.site()
    people = [await world.person(site, Role.ADMIN) for _ in range(60)]
    topic, stream = f"site.people:{site.id}", site_stream(site.id)
    async with page_of(web, people[-1][1], max_queue=None) as reader:
        await follow(reader, topic)
        await world.grow(stream, site.id)
        await hear(reader, "fragments", "resync")
        before = web.memory()
        silent = [await asyncio.to_thread(_silent_page, web, people[number % 50][1], topic) for number in range(SILENT)]
        try:
            growing = asyncio.create_task(world.do(_grow_steadily, stream, site.id, seconds))
            most, last = before, 0
            while not growing.done():
                last = max(last, (await hear(reader, "fragments", "resync"))["position"])
                most = max(most, web.memory())
            written = 1 + await growing
            while last < written:
                last = (await hear(reader, "fragments", "resync"))["position"]
            assert last == written
            left = await asyncio.to_thread(web.insides)
            assert left["followers"] == 1, f"{left['followers'] - 1} that never read are still held"
            assert most - before < 50
            if seconds == LONG_S:
                assert written >= 0.9 * EVENTS_PER_SECOND * seconds, f"the attack was weaker than asked: {written} events"
            print(f"{written} events in {seconds} s to {SILENT} silent pages: memory +{most - before:.1f} MiB")
        finally:
            for one in silent:
                one.close()


async def _come_and_go(web, session, topic, number):
    page = await page_of(web, session)
    await follow(page, topic)
    if number % 2:
        page.transport.abort()
    await page.close()


@pytest.mark.parametrize("seconds", DURATIONS)
async def test_pages_that_come_and_go_leave_nothing(world, lasting):
    seconds, web = lasting, world.serve("web")
    site = await world.site()
    people = [await world.person(site, Role.VIEWER) for _ in range(10)]
    topic = f"site.journal:{site.id}"
    for number in range(20):  # pools and threads are made at first use
        await _come_and_go(web, people[number % 10][1], topic, number)
    await asyncio.sleep(3)
    before, files = await asyncio.to_thread(web.insides), web.inside.num_fds()
    memory, began, number, served, at_once = web.memory(), time.monotonic(), 0, 0, asyncio.Semaphore(40)

    async def one(number):
        nonlocal served
        async with at_once:
            with suppress(OSError, ConnectionClosed):  # a machine short of time may refuse some; none may stay behind
                await _come_and_go(web, people[number % 10][1], topic, number)
                served += 1

    running = []
    while time.monotonic() - began < seconds:
        running.append(asyncio.create_task(one(number)))
        number += 1
        await asyncio.sleep(max(0.0, began + number * 60 / CONNECTS_PER_MINUTE - time.monotonic()))
    await asyncio.gather(*running)
    await asyncio.sleep(5)
    assert served >= (0.99 if seconds == LONG_S else 0.9) * number  # the short form runs beside other tests
    if seconds == LONG_S:
        assert number >= 0.95 * CONNECTS_PER_MINUTE * seconds / 60, f"the attack was weaker than asked: {number} pages"
    after = await asyncio.to_thread(web.insides)
    assert {name: after[name] for name in ("followers", "topics", "groups", "addresses", "people")} == dict.fromkeys(
        ("followers", "topics", "groups", "addresses", "people"), 0
    )
    assert after["tasks"] <= before["tasks"] + 2
    assert web.inside.num_fds() <= files + 5
    assert web.memory() - memory < 50
    valkey = redis.Redis.from_url(os.environ["PILOTHOUSE_VALKEY_URL"] + "/1", socket_timeout=5)
    assert valkey.zcard(f"ph:group:{group_of(site_stream(site.id))}") == 0
    valkey.close()
    print(f"{served} of {number} pages in {seconds} s: memory +{web.memory() - memory:.1f} MiB")
