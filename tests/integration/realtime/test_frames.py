"""Attack 23: frames meant to exhaust the process."""

import asyncio
import contextlib
import zlib

import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed
from websockets.frames import Frame, Opcode

from apps.accounts.events import site_stream
from apps.kernel.types import Role
from tests.served import COOKIE, follow, hear, page_of, say

GROWTH_MIB = 20


async def _raw(socket, *frames, drain_every=64):
    """Send frames past the client library's own rules."""
    for number, (fin, opcode, data) in enumerate(frames):
        if socket.transport.is_closing():
            return
        socket.transport.write(Frame(opcode, data, fin=fin).serialize(mask=True))
        if number % drain_every == 0:
            await asyncio.sleep(0)


async def _one_byte_over(socket):
    await socket.send("x" * (64 * 1024 + 1))


async def _huge(socket):
    chunk = b"\x00" * 2**20
    socket.transport.write(b"\x81\xff" + (100 * 2**20).to_bytes(8, "big") + b"\x00" * 4)
    for _ in range(100):
        if socket.transport.is_closing():
            return
        socket.transport.write(chunk)
        await asyncio.sleep(0)


async def _fragments_for_ever(socket):
    await _raw(socket, (False, Opcode.TEXT, b"{"), *[(False, Opcode.CONT, b"")] * 20_000)


async def _not_utf8(socket):
    await _raw(socket, (True, Opcode.TEXT, b"\xff\xfe{}"))


async def _bomb(socket):
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    data = packer.compress(b" " * (50 * 2**20)) + packer.flush(zlib.Z_SYNC_FLUSH)
    # By hand: the client library refuses to write a compressed frame that was not agreed on.
    socket.transport.write(b"\xc1\xff" + len(data).to_bytes(8, "big") + b"\x00" * 4 + data)
    await asyncio.sleep(0)


async def _pings(socket):
    await _raw(socket, *[(True, Opcode.PING, b"p" * 100)] * 5000)


async def _junk(socket):
    for _ in range(1000):
        await socket.send('{"op": "open the door"}')


async def _deep(socket):
    await socket.send("[" * 30_000)


async def _well_formed_flood(socket):
    for number in range(1000):
        await say(socket, op="ping", t=number)


ATTACKS = {
    "64 KiB and one": (_one_byte_over, {1009}),
    "100 MiB": (_huge, {1009}),
    "fragmented for ever": (_fragments_for_ever, {4429, 1009, 1002, 1008}),
    "not UTF-8": (_not_utf8, {1007}),
    "compression bomb": (_bomb, {1002}),
    "5,000 pings": (_pings, {4429}),
    "1,000 junk frames": (_junk, {4400}),
    "30,000 brackets": (_deep, {4400}),
    "1,000 good frames": (_well_formed_flood, {4429}),
}


@pytest.mark.parametrize("attack", ATTACKS)
async def test_closed_without_growth_and_nobody_else_minds(world, web, attack):
    send, codes = ATTACKS[attack]
    site = await world.site()
    _, session = await world.person(site, Role.ADMIN)
    topic = f"site.people:{site.id}"
    async with page_of(web, session) as bystander:
        await follow(bystander, topic)
        before = web.memory()
        async with page_of(web, session, max_queue=None) as socket:
            with contextlib.suppress(ConnectionClosed):
                await send(socket)
            async with asyncio.timeout(8):
                await socket.wait_closed()
            # A peer that is still sending when we close may see its connection reset before our code.
            assert socket.close_code in codes | {1006}
        assert web.memory() - before < GROWTH_MIB
        await world.grow(site_stream(site.id), site.id)
        assert (await hear(bystander, "fragments", "resync", within=3))["position"] == 1


async def test_compression_is_not_agreed_to(world, web):
    """What cannot be packed cannot be a bomb."""
    _, session = await world.person()
    async with connect(
        web.socket,
        origin=web.address,
        additional_headers=[("Cookie", f"{COOKIE}={session}")],
        compression="deflate",
        proxy=None,
    ) as socket:
        assert "Sec-WebSocket-Extensions" not in socket.response.headers
