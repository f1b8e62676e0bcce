import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from apps.control import selectors, services
from apps.control.models import Stop
from apps.control.types import Confirmation, Phase, Release, SubjectState
from apps.kernel import clock
from apps.kernel.errors import NotAllowed
from apps.kernel.ids import new_id
from apps.kernel.types import SubjectRef

pytestmark = pytest.mark.django_db


def state_of(stop_id, robot):
    return Stop.objects.get(id=stop_id).subjects.get(subject_id=robot.id).state


def test_only_the_robots_own_report_latches_it(robot, press, latch, facts):
    stop = press(robot)
    assert state_of(stop.id, robot) is SubjectState.UNCONFIRMED
    assert latch(stop.id, robot)
    assert state_of(stop.id, robot) is SubjectState.LATCHED
    assert facts() == 2


def test_saying_it_again_records_nothing(robot, press, latch, facts):
    stop = press(robot)
    assert [latch(stop.id, robot) for _ in range(3)] == [True, False, False]
    assert facts() == 2


def test_a_report_before_the_press_is_recorded_holds(site, robot, press, latch):
    stop_id = new_id()
    latch(stop_id, robot)
    (active,) = selectors.active_stops()
    assert active.holds(f"robot:{robot.id}")
    assert not Stop.objects.get(id=stop_id).is_recorded
    stop = press(robot, stop_id=stop_id)
    assert (stop.is_recorded, stop.round, stop.pressed_by_name) == (True, 1, "Viewer")
    assert state_of(stop_id, robot) is SubjectState.LATCHED


def test_released_by_its_own_report(site, robot, machine, press, latch, facts):
    stop = press(robot)
    latch(stop.id, robot)
    said = {"actor": machine, "site_id": site.id, "stop_id": stop.id, "subject": robot, "released_at": clock.now()}
    assert [services.release_stop(**said) for _ in range(2)] == [True, False]
    assert state_of(stop.id, robot) is SubjectState.RELEASED
    assert facts() == 3
    assert latch(stop.id, robot), "sent again, because nobody cleared it, it latches again"
    assert state_of(stop.id, robot) is SubjectState.LATCHED


def test_a_robot_that_was_never_latched_is_not_released(site, robot, machine, press, facts):
    stop = press(robot)
    said = {"actor": machine, "site_id": site.id, "stop_id": stop.id, "subject": robot, "released_at": clock.now()}
    assert not services.release_stop(**said)
    assert facts() == 1


def test_fifty_reports_take_as_many_statements_as_one(site, machine, press):
    robots = [SubjectRef("robot", new_id(), site_id=site.id) for _ in range(51)]
    stop = press(sent_to=robots)
    now = clock.now()
    said = [Confirmation(stop.id, one, now, now) for one in robots]
    with CaptureQueriesContext(connection) as one:
        assert services.confirm_stops(actor=machine, site_id=site.id, said=said[:1]) == 1
    with CaptureQueriesContext(connection) as fifty:
        assert services.confirm_stops(actor=machine, site_id=site.id, said=said) == 50
    assert len(fifty) == len(one)


def test_people_do_not_confirm_for_a_robot(site, robot, press, admin, actor_of, facts):
    stop = press(robot)
    now = clock.now()
    with pytest.raises(NotAllowed):
        services.confirm_stop(
            actor=actor_of(admin), site_id=site.id, stop_id=stop.id, subject=robot, latched_at=now, ended_at=now
        )
    assert facts() == 1


def test_a_bridge_of_another_site_reaches_no_stop_here(site, other_site, robot, machine, press, facts):
    stop = press(robot)
    now = clock.now()
    said = Confirmation(stop.id, robot, now, now)
    assert services.confirm_stops(actor=machine, site_id=other_site.id, said=[said]) == 0
    assert facts() == 1
    assert Stop.objects.get(id=stop.id).phase == Phase.ACTIVE
    assert state_of(stop.id, robot) is SubjectState.UNCONFIRMED


def test_many_are_released_at_once_and_only_those_that_stood(site, machine, press, latch, facts):
    robots = [SubjectRef("robot", new_id(), site_id=site.id) for _ in range(3)]
    stop = press(*robots)
    for one in robots[:2]:
        latch(stop.id, one)
    said = [Release(stop.id, one, clock.now()) for one in robots]
    assert services.release_stops(actor=machine, site_id=site.id, said=said) == 2
    assert [state_of(stop.id, one) for one in robots] == [
        SubjectState.RELEASED,
        SubjectState.RELEASED,
        SubjectState.UNCONFIRMED,
    ]
    assert facts() == 5
