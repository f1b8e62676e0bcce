"""Attacks 21 and 22: rights that end while the socket is open, and topics that are not one's own."""

import asyncio
import contextlib
import json
import time
from uuid import uuid4

import pytest
from websockets.exceptions import ConnectionClosed

from apps.accounts.events import site_stream
from apps.kernel.types import Role
from tests.served import append, follow, hear, page_of

WITHIN_S = 2.0


def _delete_session(person, session, site):
    from django.contrib.sessions.models import Session

    Session.objects.filter(session_key=session).delete()


def _change_password(person, session, site):
    person.set_password("another horse battery 43")
    person.save(update_fields=["password"])


def _deactivate(person, session, site):
    from apps.accounts.services import deactivate_person
    from apps.kernel.types import system_actor

    deactivate_person(actor=system_actor("tests"), person_id=person.id)


def _revoke(person, session, site):
    from apps.accounts.models import RoleGrant

    RoleGrant.objects.filter(person=person, site=site, role=Role.ADMIN).delete()


def _leave(person, session, site):
    from apps.accounts.models import RoleGrant

    RoleGrant.objects.filter(person=person, site=site).delete()


ENDS = {
    "session": (_delete_session, 4401),
    "password": (_change_password, 4401),
    "deactivated": (_deactivate, 4401),
    "role": (_revoke, 4403),
    "left": (_leave, 4403),
}


@pytest.mark.parametrize("way", ENDS)
async def test_the_socket_closes_and_tells_nothing_more(world, web, way):
    """Facts are appended without pause from the moment the right has ended; none of them may arrive."""
    site = await world.site()
    end, code = ENDS[way]
    person, session = await world.person(site, Role.ADMIN, Role.VIEWER)
    await world.person(site, Role.ADMIN)  # a site keeps an admin
    stream, topic = site_stream(site.id), f"site.people:{site.id}"
    async with page_of(web, session) as socket:
        await follow(socket, topic)
        await world.grow(stream, site.id)
        assert (await hear(socket, "fragments", "resync"))["position"] >= 1

        def end_and_go_on():
            end(person, session, site)
            ended = time.monotonic()
            from apps.journal.selectors import heads

            last_before = heads([stream])[stream]
            while time.monotonic() - ended < WITHIN_S:
                append(stream, site.id)
                time.sleep(0.01)
            return ended, last_before

        act = asyncio.create_task(world.do(end_and_go_on))
        seen = []
        async with asyncio.timeout(10):
            with contextlib.suppress(ConnectionClosed):
                while True:
                    seen.append(json.loads(await socket.recv()))
            closed = time.monotonic()
        ended, last_before = await act
        assert socket.close_code == code
        assert closed - ended <= WITHIN_S
        positions = [frame["position"] for frame in seen if frame["op"] in ("fragments", "resync")]
        assert max(positions, default=0) <= last_before


async def test_another_sites_topics_do_not_exist(world, web):
    mine, theirs = await world.site(), await world.site()
    _, session = await world.person(mine, *Role)
    other, _ = await world.person(theirs, *Role)
    guesses = [f"site.{part}:{theirs.id}" for part in ("people", "machines", "journal")]
    guesses += [f"person.preferences:{other.id}", f"site.people:{uuid4()}", f"site.nothing:{mine.id}"]
    async with page_of(web, session) as socket:
        for topic in guesses:
            assert await follow(socket, topic) == {"op": "refused", "topic": topic, "code": "unknown"}
        await world.grow(site_stream(theirs.id), theirs.id)
        assert {(await hear(socket))["op"] for _ in range(len(guesses))} <= {"tick"}


async def test_a_role_too_small_is_not_allowed(world, web):
    site = await world.site()
    _, session = await world.person(site, Role.OPERATOR)
    async with page_of(web, session) as socket:
        answer = await follow(socket, f"site.people:{site.id}")
        assert answer["code"] == "not_allowed"


@pytest.mark.parametrize(
    "spell",
    [
        lambda id: f"site.people:{id}\n",
        lambda id: f"site.people:{id}" + "0" * 500,
        lambda id: f"ѕite.people:{id}",
        lambda id: f"site.people:{id}".upper(),
        lambda id: f"site.people:{{{id}}}",
        lambda id: f"site.people:{id.hex}",
        lambda id: f"site.people:{id} ",
        lambda id: f"site.people：{id}",
        lambda id: f"site.people:{id}\x00",
        lambda id: f"stream.{id}",
        lambda id: "*",
        lambda id: "",
        lambda id: "site.people:../../x",
    ],
    ids=[
        "newline",
        "long",
        "homoglyph",
        "capitals",
        "braces",
        "hex",
        "space",
        "wide colon",
        "NUL",
        "stream",
        "star",
        "empty",
        "dots",
    ],
)
async def test_names_in_any_other_spelling_are_bad(world, web, spell):
    site = await world.site()
    _, session = await world.person(site, Role.ADMIN)
    topic = spell(site.id)
    async with page_of(web, session) as socket:
        assert await follow(socket, topic) == {"op": "refused", "topic": topic, "code": "bad_name"}
    assert "topic refused: bad_name" in web.log()
