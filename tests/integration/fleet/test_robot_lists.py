import itertools
from datetime import timedelta

import pytest
from django.db import connection
from django.http import QueryDict
from django.test.utils import CaptureQueriesContext

from apps.fleet import selectors
from apps.fleet.models import Bridge, Robot, RobotReport
from apps.fleet.types import Need
from apps.kernel import clock
from apps.kernel.errors import Invalid, NotFound
from apps.kernel.ids import new_id
from tests.factories.accounts import make_site
from tests.factories.fleet import bridge_row, connect, episode_row, facts_of, machine_for, make_robot, make_robots, take
from workers.protocol import EpisodeEnded, EpisodeStarted, Mode, NeedsReset, Outcome

pytestmark = pytest.mark.django_db
MODES = [*(mode.value for mode in Mode), "", "something new"]


def asked(**given):
    query = QueryDict(mutable=True)
    query.update(given)
    return query


def report(robot, mode="autonomous", ago_s=1.0, **body):
    at = clock.now() - timedelta(seconds=ago_s)
    values = {
        "boot": new_id(),
        "sequence": 1,
        "device_ms": 1,
        "received_at": at,
        "mode": mode,
        "body": {"task": "pick", **body},
    }
    RobotReport.objects.update_or_create(robot=robot, defaults=values)


def test_the_floor_and_the_list_agree_on_who_needs_somebody(site):
    """The rule is written twice, as a function and in SQL: over every case both say the same."""
    lost = bridge_row(site, "lost")
    here = bridge_row(site, "here")
    Bridge.objects.filter(id=here.id).update(lost_at=None)
    cases = itertools.product([None, lost, here], ["", "block on the floor"], [*MODES, None], [1.0, 60.0])
    for number, (bridge, reason, mode, ago_s) in enumerate(cases):
        robot = make_robot(site, f"r{number:03d}")
        Robot.objects.filter(id=robot.id).update(bridge=bridge, needs_reset=reason)
        if mode is not None:
            report(robot, mode, ago_s)
    now = clock.now()
    floor = selectors.floor_page(site.id, now=now)
    rows = [*selectors.robots_page(site.id, asked(limit="200"), now=now).rows]
    assert len(rows) == len(floor.robots) > 90
    assert [robot.need for robot in rows] == sorted(robot.need for robot in rows)
    assert {robot.id: robot.need for robot in rows} == {robot.id: robot.need for robot in floor.robots}
    by_database = {
        need: {row.id for row in selectors.robots_page(site.id, asked(limit="200", need=need.name.lower()), now=now).rows}
        for need in Need
    }
    assert by_database == {need: {one.id for one in floor.robots if one.need is need} for need in Need}
    assert set(floor.counts) == set(Need)


def test_the_floor_shows_those_that_need_somebody_first(site):
    robots = make_robots(site, 3)
    machine = machine_for(site, robots)
    boot = new_id()
    claim = connect(machine, robots, boot=boot)
    for robot, mode in zip(robots, ["autonomous", "autonomous", "hold"], strict=True):
        report(robot, mode, faults=["camera_black"])
    take(machine, claim, facts_of(boot, robots[1], NeedsReset(reason="block on the floor")))
    floor = selectors.floor_page(site.id)
    assert [robot.id for robot in floor.robots] == [robots[1].id, robots[2].id, robots[0].id]
    assert (floor.robots[0].state, floor.robots[0].reason, floor.waiting) == ("Needs reset", "block on the floor", 1)
    assert [one["name"] for one in floor.robots[0].headlines] == ["gripper"]
    assert floor.robots[0].faults == ("camera_black",)


def test_other_sites_are_not_there(site, robot):
    other = make_robot(make_site())
    assert [one.id for one in selectors.floor_page(site.id).robots] == [robot.id]
    assert [one.id for one in selectors.robots_page(site.id, asked()).rows] == [robot.id]
    assert [one.id for one in selectors.subjects_of_site(site.id)] == [robot.id]
    for read in (selectors.robot_detail, lambda at, found: selectors.robot_log(at, found, asked())):
        with pytest.raises(NotFound):
            read(site.id, other.id)


@pytest.mark.parametrize(
    "read",
    [
        lambda site: selectors.floor_page(site.id),
        lambda site: selectors.robots_page(site.id, asked(limit="200")),
        lambda site: selectors.episodes_page(site.id, asked(limit="200")),
        lambda site: selectors.subjects_of_site(site.id),
        lambda site: selectors.bridges_of(site.id),
        lambda site: selectors.robot_detail(site.id, Robot.objects.filter(site=site).first().id),
    ],
    ids=["floor", "robots", "episodes", "subjects", "bridges", "detail"],
)
def test_a_read_costs_the_same_queries_at_3_and_30_robots(read):
    costs = []
    for number in (3, 30):
        site = make_site(is_simulated=True)
        robots = make_robots(site, number)
        connect(machine_for(site, robots), robots)
        for robot in robots:
            report(robot)
            episode_row(site, robot.name)
        with CaptureQueriesContext(connection) as queries:
            read(site)
        costs.append(len(queries))
    assert costs[0] == costs[1]


@pytest.mark.parametrize("sort", ["need", "-need", "name", "-name", "age", "-age"])
def test_pages_of_robots_follow_each_other(site, sort):
    robots = make_robots(site, 7)
    seen, cursor = [], ""
    for _ in range(4):
        page = selectors.robots_page(site.id, asked(limit="2", sort=sort, cursor=cursor))
        seen += [row.id for row in page.rows]
        cursor = page.next_cursor or ""
    assert len(seen) == 7
    assert set(seen) == {robot.id for robot in robots}


def test_robots_are_narrowed(site, robot, machine, claim):
    make_robot(site, "other", kind="drone")
    found = [
        [row.name for row in selectors.robots_page(site.id, asked(**given)).rows]
        for given in (
            {"name": "ARM"},
            {"kind": "drone"},
            {"bridge": str(claim.bridge_id)},
            {"need": "never"},
            {"is_simulated": "false"},
        )
    ]
    assert found == [["arm-01"], ["other"], ["arm-01"], ["other"], []]


@pytest.mark.parametrize(
    "given", [{"need": "love"}, {"bridge": "x"}, {"is_simulated": "1"}, {"sort": "id);--"}, {"owner": "x"}, {"cursor": "x"}]
)
def test_what_cannot_be_asked_is_refused(site, given):
    with pytest.raises(Invalid):
        selectors.robots_page(site.id, asked(**given))
    with pytest.raises(Invalid):
        selectors.episodes_page(site.id, asked(**{"outcome": "love"} | given))


def test_episodes_are_narrowed_and_paged(site, robot, machine, claim, boot):
    bodies = []
    for number in range(6):
        episode = new_id()
        outcome = Outcome.SUCCESS if number % 2 else Outcome.FAILURE
        bodies += [
            EpisodeStarted(episode=episode, task=f"task {number % 3}", driver="policy"),
            EpisodeEnded(episode=episode, outcome=outcome, steps=1),
        ]
    take(machine, claim, facts_of(boot, robot, *bodies))
    episode_row(site, "other")
    count = lambda **given: len(selectors.episodes_page(site.id, asked(**given)).rows)  # noqa: E731
    assert (count(outcome="success"), count(task="task 0"), count(robot=str(robot.id)), count(driver="expert")) == (3, 2, 6, 0)
    first = selectors.episodes_page(site.id, asked(limit="5"))
    rest = selectors.episodes_page(site.id, asked(limit="5", cursor=first.next_cursor))
    assert len({row.id for row in [*first.rows, *rest.rows]}) == 7


def test_a_robots_log_is_its_own_stream(site, robot, machine, claim, boot):
    other = make_robot(site)
    take(machine, claim, facts_of(boot, robot, NeedsReset(reason="a")))
    page = selectors.robot_log(site.id, robot.id, asked(limit="2"))
    assert [fact.type for fact in page.rows] == ["fleet.needs_reset", "fleet.robot_described"]
    rest = selectors.robot_log(site.id, robot.id, asked(cursor=page.next_cursor))
    assert [fact.type for fact in rest.rows] == ["fleet.robot_bound", "fleet.robot_registered"]
    with pytest.raises(Invalid):
        selectors.robot_log(site.id, robot.id, asked(stream=f"fleet.robot:{other.id}"))
    assert [fact.type for fact in selectors.newest_facts(robot.id, most=1)] == ["fleet.needs_reset"]


def test_a_robot_as_its_page_shows_it(site, robot, machine, claim, boot):
    episode = new_id()
    take(machine, claim, facts_of(boot, robot, EpisodeStarted(episode=episode, task="pick", driver="policy")))
    report(robot, "hold", activity="reach")
    connect(machine_for(site, [robot], "copy"), [robot])
    detail = selectors.robot_detail(site.id, robot.id)
    assert (detail.robot.need, detail.robot.activity, detail.bridge.name) == (Need.HOLD, "reach", "arms")
    assert (detail.episode.id, detail.episode.state, detail.contested_by) == (episode, "running", "copy")
    assert (detail.version, detail.device_ms, detail.orders) == (2, 1, [])
