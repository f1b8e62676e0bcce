from datetime import timedelta

import pytest

from apps.fleet.models import RobotReport
from apps.fleet.services import save_reports
from apps.fleet.types import LastReport
from apps.journal.models import Event
from apps.kernel import clock
from apps.kernel.ids import new_id
from tests.factories.fleet import make_robots

pytestmark = pytest.mark.django_db
BOOT = new_id()


def report(robot, *, mode="autonomous", ago_s=0.0, **given):
    at = clock.now() - timedelta(seconds=ago_s)
    return LastReport(robot.id, BOOT, given.pop("sequence", 1), 42, at, {"mode": mode, "task": "pick", **given})


def test_the_newest_is_kept_and_is_no_fact(site, robot):
    before = Event.objects.count()
    assert save_reports([report(robot, mode="hold", ago_s=2)]) == 1
    assert save_reports([report(robot, faults=["camera_black"])]) == 1
    row = RobotReport.objects.get()
    assert (row.mode, row.device_ms, row.body["faults"]) == ("autonomous", 42, ["camera_black"])
    assert Event.objects.count() == before


def test_an_older_one_replaces_nothing(robot):
    save_reports([report(robot)])
    assert save_reports([report(robot, mode="hold", ago_s=5)]) == 0
    assert RobotReport.objects.get().mode == "autonomous"


def test_of_one_robot_twice_the_newest_counts(robot):
    assert save_reports([report(robot, mode="hold", ago_s=1), report(robot), report(robot, mode="fault", ago_s=2)]) == 1
    assert RobotReport.objects.get().mode == "autonomous"


def test_of_a_robot_that_is_not_there_nothing_is_kept(robot):
    assert save_reports([LastReport(new_id(), BOOT, 1, 1, clock.now(), {}), report(robot)]) == 1


def test_any_number_costs_one_query(site, django_assert_num_queries):
    robots = make_robots(site, 20)
    with django_assert_num_queries(1):
        assert save_reports([report(robot) for robot in robots]) == 20
    with django_assert_num_queries(0):
        assert save_reports([]) == 0


def test_words_of_one_robot_do_not_keep_the_others_from_being_saved(site, robot):
    """Attack 39, at the door: what the database cannot store is made visible."""
    other = make_robots(site, 1)[0]
    hostile = report(robot, mode="hold", activity="a\x00b\u202e", faults=["\x00"], skill="\x1b[31m")
    assert save_reports([hostile, report(other)]) == 2
    body = RobotReport.objects.get(robot=robot).body
    assert (body["activity"], body["faults"], body["skill"]) == ("a\ufffdb\ufffd", ["\ufffd"], "\ufffd[31m")
