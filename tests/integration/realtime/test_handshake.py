"""Attack 19 and the page's half of 20: handshakes that no page of ours makes."""

import asyncio

import pytest
from websockets.exceptions import InvalidStatus

from apps.kernel.types import Role
from tests.served import follow, hear, page_of

FOREIGN = [
    "https://evil.example",
    "null",
    None,
    "http://localhost.evil.example:{port}",
    "http://localhost:{other}",
    "http://localhost",
    "https://localhost:{port}",
    "http://LOCALHOST:{port}",
    "http://localhost.:{port}",
    "http://localhost:{port}/",
    "http://localhost:{port}@evil.example",
    "http://evil.example http://localhost:{port}",
    "file://",
    "",
]


async def _status(opening) -> int:
    with pytest.raises(InvalidStatus) as refused:
        await opening
    return refused.value.response.status_code


@pytest.mark.parametrize("origin", FOREIGN, ids=str)
async def test_no_other_origin_gets_in(world, web, origin):
    _, session = await world.person()
    if origin == "":
        opening = page_of(web, session, origin=None, headers=[("Origin", "")])
    else:
        given = origin and origin.format(port=web.port, other=web.port + 1)
        opening = page_of(web, session, origin=given)
    before = web.insides()["followers"]
    assert await _status(opening) == 403
    assert web.insides()["followers"] == before


async def test_two_origins_are_none(world, web):
    _, session = await world.person()
    assert await _status(page_of(web, session, headers=[("Origin", "https://evil.example")])) == 403


@pytest.mark.parametrize("origin", ["http://localhost:{port}", "http://127.0.0.1:{port}"])
async def test_our_own_names_get_in(world, web, origin):
    _, session = await world.person()
    async with page_of(web, session, origin=origin.format(port=web.port)) as socket:
        assert (await hear(socket, "tick"))["head"] == {}


async def test_a_rebound_host_does_not_get_in(world, web):
    """DNS rebinding: the origin may be made to match nothing, but the host header tells."""
    from urllib.parse import urlsplit

    from websockets.asyncio.client import connect

    _, session = await world.person()
    opening = connect(
        f"ws://evil.example:{web.port}/ws/",
        host="127.0.0.1",
        port=web.port,
        origin=web.address,
        additional_headers=[("Cookie", f"pilothouse_session={session}")],
        proxy=None,
    )
    assert urlsplit(web.address).hostname == "localhost"
    assert await _status(opening) == 403


@pytest.mark.parametrize(
    "extra",
    [
        {"headers": [("Authorization", "Bearer pht_000000000000_" + "0" * 48)]},
        {"path": "?token=pht_000000000000_" + "0" * 48},
        {"subprotocols": ["bearer", "pht_000000000000"]},
    ],
    ids=["header", "address", "subprotocol"],
)
@pytest.mark.parametrize("signed_in", [False, True])
async def test_a_token_is_no_way_in_for_a_page(world, web, extra, signed_in):
    session = (await world.person())[1] if signed_in else ""
    assert await _status(page_of(web, session, **extra)) == 403


async def test_other_paths_are_no_sockets(world, web):
    assert await _status(page_of(web, path="more/")) == 404


@pytest.mark.parametrize("session", ["", "0" * 32, "x" * 2000])
async def test_without_a_session_the_page_is_told(world, web, session):
    async with page_of(web, session) as socket:
        await socket.wait_closed()
        assert socket.close_code == 4401


async def test_one_person_has_so_many_sockets_and_no_more(world, web):
    site = await world.site()
    _, session = await world.person(site, Role.VIEWER)
    _, other = await world.person(site, Role.VIEWER)
    opened = []
    try:
        for _ in range(65):
            opened.append(await page_of(web, session))
        # Which of them was one too many is decided once the database has told whose each is: not always the last one.
        ends = [asyncio.ensure_future(socket.wait_closed()) for socket in opened]
        _, open_still = await asyncio.wait(ends, timeout=10, return_when=asyncio.FIRST_COMPLETED)
        for end in open_still:
            end.cancel()
        assert [socket.close_code for socket in opened if socket.close_code is not None] == [4429]
        async with page_of(web, other) as socket:
            assert (await follow(socket, f"site.journal:{site.id}"))["op"] == "subscribed"
    finally:
        await asyncio.gather(*(socket.close() for socket in opened))
