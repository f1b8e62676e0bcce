from datetime import timedelta

import pytest

from apps.control import selectors, services
from apps.control.types import Phase
from apps.kernel import clock
from apps.kernel.errors import Conflict, Invalid, NotFound
from apps.kernel.ids import new_id
from apps.kernel.types import Role, SubjectRef
from tests.factories.accounts import grant, make_person

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("role", list(Role))
def test_anybody_with_any_role_stops(site, robot, press, role):
    stop = press(robot, person=grant(make_person(f"Any {role.label}"), site, role))
    assert (stop.phase, stop.pressed_by_name, stop.gateway) == (Phase.ACTIVE, f"Any {role.label}", "gateway-1")
    (active,) = selectors.active_stops([site.id])
    assert (active.id, active.subjects) == (stop.id, {f"robot:{robot.id}"})
    assert active.holds(f"robot:{robot.id}")
    assert not active.holds(f"robot:{new_id()}")


def test_a_whole_site_holds_robots_that_come_later(site, press):
    press()
    (active,) = selectors.active_stops()
    assert active.holds(f"robot:{new_id()}")


def test_recording_it_again_records_nothing(site, robot, press, facts):
    stop = press(robot)
    press(robot, stop_id=stop.id, received_at=stop.received_at)
    assert facts() == 1
    assert len(selectors.active_stops()) == 1


def test_whom_the_stop_of_a_site_was_sent_to_is_added(site, robot, press, facts):
    other = SubjectRef("robot", new_id(), site_id=site.id)
    stop = press(sent_to=[robot])
    press(stop_id=stop.id, received_at=stop.received_at, sent_to=[robot, other])
    assert facts() == 3
    (active,) = selectors.active_stops()
    assert active.subjects == {f"robot:{robot.id}", f"robot:{other.id}"}


def test_a_thousand_robots_fit(site, press, facts):
    robots = [SubjectRef("robot", new_id(), site_id=site.id) for _ in range(1001)]
    press(sent_to=robots)
    assert facts() == 1 + 3
    assert len(selectors.active_stops()[0].subjects) == 1001


def test_a_role_that_was_lost_since_takes_no_stop_back(site, robot, press, viewer, actor_of, facts):
    held = actor_of(viewer)
    viewer.grants.all().delete()
    services.record_stop(
        actor=held,
        stop_id=new_id(),
        site_id=site.id,
        subjects=[robot],
        pressed_at=clock.now(),
        received_at=clock.now(),
        gateway="gateway-1",
    )
    assert facts() == 1


def test_a_stranger_is_refused(site, robot, press, outsider, facts):
    with pytest.raises(NotFound):
        press(robot, person=outsider)
    assert facts() == 0
    assert selectors.active_stops() == []


def test_the_id_of_another_site_is_refused(site, other_site, robot, press, outsider, facts):
    stop = press(robot)
    with pytest.raises(Conflict):
        press(person=outsider, at=other_site, stop_id=stop.id)
    assert facts() == 1
    assert selectors.active_stops([other_site.id]) == []


def test_too_many_names_are_refused(site, press, facts):
    with pytest.raises(Invalid):
        press(*[SubjectRef("robot", new_id(), site_id=site.id) for _ in range(501)])
    assert facts() == 0


def test_pressed_anew_after_its_clear_it_holds_again(site, robot, press, latch, cleared):
    stop = cleared(press(robot).id)
    assert selectors.active_stops() == []
    press(robot, stop_id=stop.id, received_at=stop.received_at)  # the same press, heard late
    assert selectors.cleared_among([stop.id]) == {stop.id}
    again = press(robot, stop_id=stop.id, received_at=clock.now() + timedelta(seconds=1))
    assert (again.phase, again.round, again.clear_id, again.cleared_at) == (Phase.ACTIVE, 2, None, None)
    assert selectors.cleared_among([stop.id]) == set()
    assert [one.latched_at for one in again.subjects.all()] == [None]
