import pytest

from apps.alarms import services
from apps.alarms.types import State
from apps.kernel.errors import Conflict, NotAllowed, NotFound, Stale
from apps.kernel.ids import new_id
from apps.kernel.types import Role
from tests.factories.accounts import grant, make_person

pytestmark = pytest.mark.django_db
HANDLERS = {Role.OPERATOR, Role.TELEOPERATOR, Role.FLOOR_OPERATOR, Role.ADMIN}


@pytest.fixture
def see(site, operator, actor_of):
    def seen(alarm, person=None, **more):
        return services.acknowledge(actor=actor_of(person or operator), site_id=site.id, alarm_id=alarm.id, **more)

    return seen


def test_what_holds_still_is_acknowledged(subject, say, alarm_of, see, facts):
    robot = subject()
    say("state_stale", robot)
    alarm = see(alarm_of(robot), seen=1)
    assert (alarm.state, alarm.acknowledged_by_name, alarm.closed_at) == (State.ACKNOWLEDGED, "Operator", None)
    say("state_stale", robot, active=False)
    over = alarm_of(robot)
    assert (over.state, over.closed_at is None) == (State.NORMAL, False)
    assert facts() == 3


def test_what_has_gone_is_over_once_it_is_seen(subject, say, alarm_of, see):
    robot = subject()
    say("state_stale", robot)
    say("state_stale", robot, active=False)
    assert see(alarm_of(robot)).state == State.NORMAL
    say("state_stale", robot)
    assert alarm_of(robot).annunciations == 1, "a new one, not the old one again"


def test_one_more_subject_is_unseen_again(subject, say, alarm_of, see):
    bridge, first, second = subject("bridge"), subject(), subject()
    say("camera_black", first, cause=bridge)
    see(alarm_of(first))
    say("camera_black", second, cause=bridge)
    alarm = alarm_of(first)
    assert (alarm.state, alarm.annunciations, alarm.acknowledged_by_name) == (State.UNACKNOWLEDGED, 2, "")
    assert alarm.calls.count() == 2


def test_it_covers_only_what_was_seen(subject, say, alarm_of, see, facts):
    bridge, first, second = subject("bridge"), subject(), subject()
    say("camera_black", first, cause=bridge)
    shown = alarm_of(first)
    say("camera_black", second, cause=bridge)
    with pytest.raises(Stale):
        see(shown, seen=shown.version)
    assert alarm_of(first).state == State.UNACKNOWLEDGED
    assert facts() == 2


def test_repeating_it_does_nothing_more(subject, say, alarm_of, see, facts):
    robot = subject()
    say("state_stale", robot)
    for _ in "12":
        see(alarm_of(robot), seen=1, idempotency_key="k")
    assert facts() == 2
    with pytest.raises(Conflict):
        see(alarm_of(robot))
    assert facts() == 2


@pytest.mark.parametrize("role", list(Role))
def test_who_may(subject, say, alarm_of, see, site, facts, role):
    robot = subject()
    say("state_stale", robot)
    person = grant(make_person("Somebody"), site, role)
    if role in HANDLERS:
        assert see(alarm_of(robot), person).state == State.ACKNOWLEDGED
    else:
        with pytest.raises(NotAllowed):
            see(alarm_of(robot), person)
        assert facts() == 1


def test_a_stranger_finds_nothing(subject, say, alarm_of, see, outsider, facts):
    robot = subject()
    say("state_stale", robot)
    with pytest.raises(NotFound):
        see(alarm_of(robot), outsider)
    assert (alarm_of(robot).state, facts()) == (State.UNACKNOWLEDGED, 1)


def test_an_alarm_of_another_site_is_none(subject, say, alarm_of, other_site, outsider, actor_of, facts):
    robot = subject()
    say("state_stale", robot)
    for alarm_id in (alarm_of(robot).id, new_id()):
        with pytest.raises(NotFound):
            services.acknowledge(actor=actor_of(outsider), site_id=other_site.id, alarm_id=alarm_id)
    assert facts() == 1


def test_a_latched_one_stands_until_it_is_reset(subject, say, alarm_of, see, site, operator, actor_of):
    robot = subject()
    say("claim_refused", robot)
    say("claim_refused", robot, active=False)
    alarm = see(alarm_of(robot))
    assert (alarm.state, alarm.closed_at) == (State.LATCHED, None)
    over = services.reset_alarm(actor=actor_of(operator), site_id=site.id, alarm_id=alarm.id)
    assert (over.state, over.closed_at is None) == (State.NORMAL, False)
    with pytest.raises(Conflict):
        services.reset_alarm(actor=actor_of(operator), site_id=site.id, alarm_id=alarm.id)


def test_reset_and_shown_again_once_for_each_key(subject, say, alarm_of, see, site, operator, actor_of, facts):
    robot = subject()
    say("claim_refused", robot)
    alarm = alarm_of(robot)
    who = {"actor": actor_of(operator), "site_id": site.id, "alarm_id": alarm.id}
    for _ in "12":
        services.shelve_alarm(**who, minutes=5, reason="known", idempotency_key="shelve")
        services.unshelve_alarm(**who, idempotency_key="unshelve")
    say("claim_refused", robot, active=False)
    see(alarm)
    for _ in "12":
        assert services.reset_alarm(**who, idempotency_key="reset").state == State.NORMAL
    assert facts() == 6
