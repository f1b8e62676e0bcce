import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from apps.alarms import services
from apps.alarms.models import Alarm
from apps.alarms.types import Condition, State
from apps.kernel import clock
from apps.kernel.errors import NotAllowed
from apps.kernel.types import SubjectRef, system_actor

pytestmark = pytest.mark.django_db
DETECTOR = system_actor("tests")


def test_a_condition_raises_an_alarm_by_its_definition(subject, say, alarm_of, facts):
    bridge = subject("bridge")
    assert say("bridge_lost", bridge, detail="silent for 3 s")
    alarm = alarm_of(bridge)
    assert (alarm.state, alarm.priority, alarm.title, alarm.detail) == ("unacknowledged", 1, "Bridge lost", "silent for 3 s")
    assert alarm.calls.count() == 1
    assert facts() == 1


def test_saying_it_again_changes_nothing_and_takes_one_query(subject, say, facts):
    bridge = subject("bridge")
    say("bridge_lost", bridge)
    with CaptureQueriesContext(connection) as queries:
        assert not say("bridge_lost", bridge, detail="in other words")
    assert len(queries) == 1
    assert not say("camera_black", bridge, active=False), "what never began does not end"
    assert facts() == 1


def test_what_went_by_itself_still_waits_for_a_person(subject, say, alarm_of, facts):
    robot = subject()
    say("state_stale", robot)
    say("state_stale", robot, active=False)
    assert alarm_of(robot).state == State.RETURNED
    say("state_stale", robot)
    alarm = alarm_of(robot)
    assert (alarm.state, alarm.annunciations, Alarm.objects.count()) == (State.UNACKNOWLEDGED, 2, 1)
    assert facts() == 3


def test_one_cause_is_one_alarm(site, subject, facts):
    bridge = subject("bridge")
    found = [Condition("camera_frozen", subject(), True, clock.now(), cause=bridge) for _ in range(40)]
    assert services.set_conditions(actor=DETECTOR, conditions=found) == 40
    alarm = Alarm.objects.get()
    assert (alarm.active_count, alarm.annunciations, alarm.cause_id) == (40, 1, bridge.id)
    assert facts() == 40


def test_forty_subjects_take_as_many_statements_as_two(subject):
    bridge = subject("bridge")

    def batch(count):
        found = [Condition("camera_frozen", subject(), True, clock.now(), cause=bridge) for _ in range(count)]
        with CaptureQueriesContext(connection) as queries:
            services.set_conditions(actor=DETECTOR, conditions=found)
        return len(queries)

    batch(1)
    assert batch(40) == batch(2)


def test_a_subject_that_ends_without_its_cause_is_found(subject, say, alarm_of):
    bridge, robot = subject("bridge"), subject()
    say("camera_frozen", robot, cause=bridge)
    assert say("camera_frozen", robot, active=False)
    assert alarm_of(robot).state == State.RETURNED


def test_a_thousand_in_one_call(subject, facts):
    bridge = subject("bridge")
    found = [Condition("state_stale", subject(), True, clock.now(), cause=bridge) for _ in range(1000)]
    assert services.set_conditions(actor=DETECTOR, conditions=found) == 1000
    assert Alarm.objects.get().active_count == 1000
    assert facts() == 1000


def test_what_is_wrong_with_the_console_stands_at_every_site(site, other_site):
    said = {"definition": "gateway_lost", "kind": "gateway", "id": site.id, "at": clock.now()}
    assert services.set_everywhere(actor=DETECTOR, active=True, **said) == 2
    assert services.set_everywhere(actor=DETECTOR, active=True, **said) == 0
    assert {alarm.site_id for alarm in Alarm.objects.all()} == {site.id, other_site.id}
    assert services.set_everywhere(actor=DETECTOR, active=False, **said) == 2


def test_people_say_no_conditions(subject, admin, actor_of, facts):
    with pytest.raises(NotAllowed):
        services.set_condition(actor=actor_of(admin), definition="tail_lag", subject=subject(), active=True, at=clock.now())
    assert facts() == 0


def test_a_name_that_is_not_defined_is_refused(subject, say, facts):
    with pytest.raises(LookupError):
        say("made_up", subject())
    assert facts() == 0


def test_a_subject_without_a_site_is_refused(say, site):
    with pytest.raises(ValueError, match="names no site"):
        say("tail_lag", SubjectRef("robot", site.id))
