"""What bridges say reaches pages: newest wins, ages are true, nobody speaks for another's robot (attacks 12, 66)."""

import asyncio
import time

import pytest

from apps.kernel.types import Role
from tests.factories import fleet
from tests.integration.ingest.speaking import bridge_of, page_of
from workers.protocol import Rejected, State, States


@pytest.fixture
async def site(world):
    return await world.site()


@pytest.fixture
async def robots(world, site):
    return await world.do(fleet.make_robots, site, 3)


async def test_a_state_reaches_every_page_of_the_site(world, gateway, site, robots):
    async with bridge_of(world, gateway, site, robots) as bridge, page_of(world, gateway, site, Role.VIEWER) as page:
        await page.watch(site)
        await page.until(lambda page: len(page.subjects) == 3)
        before = int(time.time() * 1000)
        sequence = await bridge.states(1, values=(12.5, None), at_ms=5)
        await page.until(lambda page: page.rows)
        row = page.row_of(robots[1])
        assert row[1:3] == [sequence, 5]
        assert before <= row[3] <= time.time() * 1000
        assert row[4] == [12.5]
        entry = page.subjects[page.place_of(robots[1])]
        assert (entry["name"], entry["kind"], entry["cameras"]) == (robots[1].name, "arm", ["front"])
        assert [channel["name"] for channel in entry["channels"]] == ["gripper", "joint_1"]


async def test_reports_and_links_are_told_when_they_change(world, gateway, site, robots):
    async with page_of(world, gateway, site, Role.AUDITOR) as page:
        async with bridge_of(world, gateway, site, robots) as bridge:
            await page.watch(site)
            await bridge.states(0)
            await bridge.report(0, task="pick", activity="reach", step=3)
            await page.until(lambda page: page.reports and (page.report_of(robots[0]) or {}).get("report"))
            found = page.report_of(robots[0])
            assert (found["link"], found["report"]["task"], found["report"]["step"]) == ("live", "pick", 3)
        await page.until(lambda page: page.report_of(robots[0])["link"] == "lost")


async def test_a_robot_that_says_nothing_is_stale_though_its_bridge_beats(world, gateway, site, robots):
    async with bridge_of(world, gateway, site, robots) as bridge, page_of(world, gateway, site, Role.VIEWER) as page:
        await page.watch(site)
        await bridge.states(0)
        for _ in range(50):
            await bridge.states(1, 2)
            await asyncio.sleep(0.1)
        assert page.report_of(robots[0])["link"] == "stale"
        assert page.report_of(robots[1])["link"] == "live"


async def test_nobody_speaks_for_a_robot_that_is_not_theirs(world, gateway, site, robots):
    """Attack 66: states, reports and pictures of a robot that the socket does not speak for."""
    other = await world.do(fleet.make_robot, site)
    async with (
        bridge_of(world, gateway, site, robots, name="bridge-a") as ours,
        bridge_of(world, gateway, site, [other]) as theirs,
        page_of(world, gateway, site, Role.VIEWER) as page,
    ):
        await page.watch(site)
        await theirs.say(States(states=[State(subject=1, sequence=1, at_ms=1, values=[1.0, 1.0])]))
        assert (await theirs.hear(Rejected)).field == "subject"
        await theirs.report(2, sequence=7)
        assert (await theirs.hear(Rejected)).sequence == 7
        await theirs.picture(2, sequence=8)
        assert (await theirs.hear(Rejected)).sequence == 8
        # Two bridges claim one robot: the second is not heard.
        credential = await world.do(fleet.credential_for, site, [robots[0]])
        async with bridge_of(world, gateway, site, [robots[0]], credential=credential) as second:
            assert [one.code for one in second.welcome.refused] == ["claimed"]
            await second.states(0, values=(99.0, 99.0))
            assert (await second.hear(Rejected)).field == "subject"
            await ours.states(0, values=(3.0, 4.0))
            await page.until(lambda page: page.rows)
            assert page.row_of(robots[0])[4] == [3.0]


@pytest.mark.parametrize(
    ("values", "field"),
    [
        ([float("nan"), 1.0], "values"),
        ([float("inf"), 1.0], "values"),
        ([1.0, float("-inf")], "values"),
        ([1.7e308, -1.7e308], "values"),
        ([1.0, None, 3.0], "values"),
        ([], "values"),
    ],
    ids=["nan", "inf", "minus inf", "too large", "too many", "none"],
)
async def test_what_is_no_number_is_refused_and_never_shown(world, gateway, site, robots, values, field):
    async with bridge_of(world, gateway, site, robots) as bridge, page_of(world, gateway, site, Role.VIEWER) as page:
        await page.watch(site)
        await bridge.say(States(states=[State(subject=0, sequence=1, at_ms=1, values=values)]))
        assert (await bridge.hear(Rejected)).field == field
        await bridge.states(0, sequence=2, values=(9e15, 9e15))  # large, and their sum beyond what one may be
        await page.until(lambda page: page.rows)
        assert page.row_of(robots[0])[1] == 2
        assert bridge.count(Rejected) == 0


async def test_late_and_repeated_states_are_counted_and_not_shown(world, gateway, site, robots):
    """Attack 12."""
    late = gateway.insides()["late"]
    async with bridge_of(world, gateway, site, robots) as bridge, page_of(world, gateway, site, Role.VIEWER) as page:
        await page.watch(site)
        for sequence in (1, 2, 2, 5, 3, 5, 1):
            await bridge.states(0, sequence=sequence, values=(float(sequence), 0.0))
            await asyncio.sleep(0.01)
        await page.until(lambda page: page.rows and page.row_of(robots[0])[1] == 5)
        await asyncio.sleep(0.5)
        assert page.row_of(robots[0])[1:2] + page.row_of(robots[0])[4] == [5, 5.0]
        assert all(row[1] <= 5 for said in page.heard if said["op"] == "floor" for row in said["rows"])
        assert gateway.insides()["late"] - late == 4


async def test_a_new_boot_begins_anew(world, gateway, site, robots):
    credential = await world.do(fleet.credential_for, site, robots)
    async with page_of(world, gateway, site, Role.VIEWER) as page:
        await page.watch(site)
        async with bridge_of(world, gateway, site, robots, credential=credential) as first:
            await first.states(0, sequence=500, values=(1.0, 0.0))
            await page.until(lambda page: page.rows and page.row_of(robots[0])[1] == 500)
        async with bridge_of(world, gateway, site, robots, credential=credential) as second:
            await second.states(0, sequence=1, values=(2.0, 0.0))
            await page.until(lambda page: page.row_of(robots[0])[1] == 1)
        async with bridge_of(world, gateway, site, robots, credential=credential, boot=second.hello.boot) as again:
            await again.states(0, sequence=1, values=(3.0, 0.0))
            await again.states(0, sequence=2, values=(4.0, 0.0))
            await page.until(lambda page: page.row_of(robots[0])[1] == 2)
            assert page.row_of(robots[0])[4] == [4.0]


async def test_one_robot_at_full_rate_and_its_ring(world, gateway, site, robots):
    async with bridge_of(world, gateway, site, robots) as bridge, page_of(world, gateway, site, Role.VIEWER) as page:
        await page.watch(site, floor=False, subjects=[robots[0].id])
        await page.until(lambda page: page.subjects)
        assert {one["id"] for one in page.subjects.values()} == {str(robots[0].id)}
        for number in range(20):
            await bridge.states(0, 1, values=(float(number), 0.0))
            await asyncio.sleep(0.01)

        def rows():
            return [row for said in page.heard if said["op"] == "states" for row in said["rows"]]

        await page.until(lambda page: len(rows()) == 20)
        assert [row[3][0] for row in rows()] == [float(number) for number in range(20)]
        assert {said["subject"] for said in page.heard if said["op"] == "states"} == {str(robots[0].id)}
        assert not [said for said in page.heard if said["op"] == "floor" and said["rows"]]
        await page.say(op="ring", subject=robots[0].id, seconds=60)
        ring = await page.hear("ring")
        assert [row[3] for row in ring["rows"]] == [[float(number), 0.0] for number in range(20)]


async def test_pictures_go_to_whoever_asked_and_only_then(world, gateway, site, robots):
    async with bridge_of(world, gateway, site, robots) as bridge, page_of(world, gateway, site, Role.VIEWER) as page:
        await page.watch(site, pictures=[{"subject": str(robots[1].id), "camera": "front", "fps": 10}])
        for sequence in range(1, 6):
            await bridge.picture(1, sequence=sequence)
            await bridge.picture(0, sequence=sequence)
            await asyncio.sleep(0.15)
        await page.until(lambda page: page.pictures and page.pictures[-1][0]["sequence"] == 5)
        assert {header["subject"] for header, _ in page.pictures} == {str(robots[1].id)}
        assert all(jpeg.startswith(b"\xff\xd8\xff") for _, jpeg in page.pictures)
        assert {header["fault"] for header, _ in page.pictures} == {""}


async def test_a_page_gets_no_more_pictures_than_it_asked_for(world, gateway, site, robots):
    async with bridge_of(world, gateway, site, robots) as bridge, page_of(world, gateway, site, Role.VIEWER) as page:
        await page.watch(site, pictures=[{"subject": str(robots[0].id), "camera": "front", "fps": 2}])
        began = time.monotonic()
        for sequence in range(1, 60):
            await bridge.picture(0, sequence=sequence)
            await asyncio.sleep(0.05)
        assert len(page.pictures) <= 2 * (time.monotonic() - began) + 2
