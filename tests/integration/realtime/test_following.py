"""Pages follow what they show, from the position they have."""

import asyncio

from apps.accounts.events import person_stream, site_stream
from apps.kernel.types import Role
from apps.realtime.topics import parse
from tests.served import follow, hear, page_of, say


async def test_a_page_behind_gets_the_state_and_its_position(world, web):
    site = await world.site()
    _, session = await world.person(site, Role.ADMIN)
    await world.grow(site_stream(site.id), site.id, 3)
    topic = f"site.people:{site.id}"
    async with page_of(web, session) as socket:
        assert (await follow(socket, topic, position=1))["topics"] == [{"topic": topic, "position": 1}]
        frame = await hear(socket, "fragments", "resync")
        assert (frame["op"], frame["topic"], frame["position"]) == ("fragments", topic, 3)
        assert 'id="site-people"' in frame["html"]


async def test_a_page_up_to_date_hears_only_what_is_new(world, web):
    site = await world.site()
    _, session = await world.person(site, Role.AUDITOR)
    await world.grow(site_stream(site.id), site.id, 2)
    topic = f"site.machines:{site.id}"
    async with page_of(web, session) as socket:
        await follow(socket, topic, position=2)
        tick = await hear(socket, "tick", "fragments")
        while tick == {"op": "tick", "t": tick["t"], "head": {}}:  # the first may come before the first look at it
            tick = await hear(socket, "tick", "fragments")
        assert (tick["op"], tick["head"]) == ("tick", {topic: 2})
        await world.grow(site_stream(site.id), site.id)
        frame = await hear(socket, "fragments", "resync", within=2)
        assert frame["position"] == 3


async def test_a_page_too_far_behind_or_ahead_is_resynced(world, web):
    site = await world.site()
    _, session = await world.person(site, Role.ADMIN)
    await world.grow(site_stream(site.id), site.id, 205)
    for position in (1, 1000):
        async with page_of(web, session) as socket:
            await follow(socket, f"site.people:{site.id}", position=position)
            frame = await hear(socket, "fragments", "resync")
            assert (frame["op"], frame["position"]) == ("resync", 205)


async def test_the_head_of_the_journal_without_its_rows(world, web):
    site = await world.site()
    _, session = await world.person(site, Role.VIEWER)
    _, reader = await world.person(site, Role.AUDITOR)
    await world.grow(site_stream(site.id), site.id)
    topic = f"site.journal:{site.id}"
    async with page_of(web, session) as socket, page_of(web, reader) as second:
        await follow(socket, topic)
        await follow(second, topic)
        frame, rows = await hear(socket, "fragments", "resync"), await hear(second, "fragments", "resync")
        assert (frame["position"], frame["html"]) == (1, "")
        assert "accounts.site_settings_changed" in rows["html"]


async def test_own_preferences_reach_other_pages(world, web):
    from apps.accounts.services import change_preferences
    from tests.factories.accounts import actor_of

    person, session = await world.person()
    topic = f"person.preferences:{person.id}"
    async with page_of(web, session) as socket:
        await follow(socket, topic)

        def change():
            change_preferences(actor=actor_of(person), theme="dark", density="compact", single_keys=True)

        await world.do(change)
        frame = await hear(socket, "fragments", "resync")
        assert 'data-theme="dark"' in frame["html"]
    assert person_stream(person.id).endswith(str(person.id))


async def test_unsubscribe_ping_and_tick(world, web):
    site = await world.site()
    _, session = await world.person(site, Role.ADMIN)
    topic = f"site.people:{site.id}"
    async with page_of(web, session) as socket:
        await follow(socket, topic)
        await say(socket, op="unsubscribe", topics=[{"topic": topic}])
        await say(socket, op="ping", t=12)
        assert (await hear(socket, "pong"))["t"] == 12
        await world.grow(site_stream(site.id), site.id)
        assert (await hear(socket, "tick"))["head"] == {}
        frames = [await hear(socket) for _ in range(2)]
        assert {frame["op"] for frame in frames} == {"tick"}


async def test_a_thousand_events_while_slow_end_in_the_servers_state(world, web):
    """Attack 25: the layer keeps a hundred messages; what a slow page shows in the end is still what the server has."""
    site = await world.site()
    _, session = await world.person(site, Role.AUDITOR)
    topic = f"site.journal:{site.id}"
    async with page_of(web, session, max_queue=1) as socket:
        await follow(socket, topic)
        await world.grow(site_stream(site.id), site.id, 1000)
        await asyncio.sleep(1)
        last = {"position": 0}
        while last["position"] < 1000:
            last = await hear(socket, "fragments", "resync")
        assert last["position"] == 1000
        named = parse(topic)
        assert last["html"] == await world.do(named.topic.render, named.subject, True)
        tick = await hear(socket, "tick", "fragments", "resync")
        assert (tick["op"], tick["head"]) == ("tick", {topic: 1000})
