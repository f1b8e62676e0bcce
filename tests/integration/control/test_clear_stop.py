from datetime import timedelta

import pytest

from apps.control import selectors, services
from apps.control.models import Stop
from apps.control.types import Phase
from apps.kernel import clock
from apps.kernel.errors import Conflict, NotAllowed, NotFound, Stale, StepUpNeeded
from apps.kernel.ids import new_id
from apps.kernel.types import Actor, ActorKind, Role, system_actor
from tests.factories.accounts import grant, make_person, make_site

pytestmark = pytest.mark.django_db
SECOND = {Role.OPERATOR, Role.TELEOPERATOR, Role.FLOOR_OPERATOR, Role.ADMIN}


@pytest.fixture
def ask(site, floor_operator, actor_of):
    def asked(stop, person=None, **more):
        return services.request_clear(actor=actor_of(person or floor_operator), site_id=site.id, stop_id=stop.id, **more)

    return asked


@pytest.fixture
def confirm(site, operator, actor_of):
    def confirmed(stop, person=None, *, clear_id=None, **more):
        actor = actor_of(person or operator)
        return services.confirm_clear(actor=actor, site_id=site.id, stop_id=stop.id, clear_id=clear_id or stop.clear_id, **more)

    return confirmed


def holds(stop):
    return [one.id for one in selectors.active_stops()] == [stop.id] and selectors.cleared_among([stop.id]) == set()


def test_two_people_clear(robot, press, ask, confirm, facts):
    stop = press(robot)
    asked = ask(stop)
    assert (asked.phase, asked.clear_by_name, holds(stop)) == (Phase.CLEAR_REQUESTED, "Floor operator", True)
    done = confirm(asked)
    assert (done.phase, done.cleared_by_name) == (Phase.CLEARED, "Operator")
    assert selectors.active_stops() == []
    assert selectors.cleared_among([stop.id, new_id()]) == {stop.id}
    assert facts() == 3


def test_repeating_either_does_nothing_more(press, ask, confirm, facts):
    stop = press()
    first, again = (ask(stop, idempotency_key="ask") for _ in "12")
    assert first.clear_id == again.clear_id
    for _ in "12":
        assert confirm(first, idempotency_key="confirm").is_cleared
    assert facts() == 3


def test_one_person_does_not_clear(site, press, ask, confirm, floor_operator, facts):
    """Attack 18: clear by one person, whatever roles they hold."""
    stop = press()
    grant(floor_operator, site, *Role)
    asked = ask(stop)
    with pytest.raises(NotAllowed) as refused:
        confirm(asked, floor_operator)
    assert refused.value.code == "one_person"
    assert holds(stop)
    assert facts() == 2


@pytest.mark.parametrize("role", sorted(set(Role) - {Role.FLOOR_OPERATOR}))
def test_without_a_floor_operator_nobody_begins(site, press, ask, facts, role):
    """Attack 18: people who are elsewhere begin no clear, however many of them."""
    stop = press()
    with pytest.raises(NotAllowed):
        ask(stop, grant(make_person("Remote"), site, role))
    assert holds(stop)
    assert facts() == 1


@pytest.mark.parametrize("role", list(Role))
def test_who_may_be_the_second(site, press, ask, confirm, role):
    stop = press()
    second = grant(make_person("Second"), site, role)
    asked = ask(stop)
    if role in SECOND:
        assert confirm(asked, second).is_cleared
    else:
        with pytest.raises(NotAllowed):
            confirm(asked, second)
        assert holds(stop)


def test_an_old_clear_is_refused(press, ask, confirm, site, floor_operator, actor_of, facts):
    """Attack 18: what was said of an earlier request clears nothing."""
    stop = press()
    old = ask(stop)
    services.withdraw_clear(actor=actor_of(floor_operator), site_id=site.id, stop_id=stop.id, clear_id=old.clear_id)
    with pytest.raises(Stale):
        confirm(old)
    new = ask(stop)
    assert new.clear_id != old.clear_id
    with pytest.raises(Stale):
        confirm(stop, clear_id=old.clear_id)
    assert holds(stop)
    assert facts() == 4


def test_a_clear_of_the_press_before_is_refused(robot, press, cleared, confirm, facts):
    """Attack 18: the clear of a Stop that was pressed anew since is replayed."""
    stop = press(robot)
    before = cleared(stop.id)
    again = press(robot, stop_id=stop.id, received_at=clock.now() + timedelta(seconds=1))
    count = facts()
    with pytest.raises(Stale):
        confirm(again, clear_id=before.clear_id)
    assert holds(stop)
    assert facts() == count


def test_a_clear_that_is_replayed_clears_no_other_stop(press, cleared, confirm, ask):
    """Attack 18: one clear, sent again for another Stop."""
    spent = cleared(press().id)
    other = press()
    ask(other)
    with pytest.raises(Stale):
        confirm(other, clear_id=spent.clear_id)
    assert holds(other)
    with pytest.raises(Conflict):
        confirm(spent)


def test_after_five_minutes_somebody_must_look_again(press, ask, confirm, monkeypatch, facts):
    stop = press()
    asked = ask(stop)
    later = clock.now() + timedelta(minutes=5, seconds=1)
    monkeypatch.setattr("apps.control.services.clearing.clock.shared", lambda: later)
    with pytest.raises(Stale):
        confirm(asked)
    assert holds(stop)
    assert services.drop_expired_clears(actor=system_actor("tests")) == 1
    assert services.drop_expired_clears(actor=system_actor("tests")) == 0
    assert Stop.objects.get().phase == Phase.ACTIVE
    assert facts() == 3


def test_who_did_not_prove_who_they_are_is_asked_to(site, press, ask, floor_operator, operator, actor_of):
    stop = press()
    with pytest.raises(StepUpNeeded):
        services.request_clear(actor=actor_of(floor_operator, proved=False), site_id=site.id, stop_id=stop.id)
    asked = ask(stop)
    with pytest.raises(StepUpNeeded):
        services.confirm_clear(
            actor=actor_of(operator, proved=False), site_id=site.id, stop_id=stop.id, clear_id=asked.clear_id
        )
    assert holds(stop)


def test_nobody_but_people_clears(site, press, ask, operator, floor_operator):
    """Attack 18: a token of a second person, a machine, the console itself."""
    stop = press()
    asked = ask(stop)
    token = Actor(ActorKind.TOKEN, operator.id, "script", {site.id: frozenset(Role)}, proved_at=clock.now())
    for actor in (token, Actor(ActorKind.MACHINE, new_id(), "bridge"), system_actor("worker")):
        with pytest.raises((NotAllowed, NotFound)):
            services.confirm_clear(actor=actor, site_id=site.id, stop_id=stop.id, clear_id=asked.clear_id)
        with pytest.raises((NotAllowed, NotFound)):
            services.request_clear(actor=actor, site_id=site.id, stop_id=stop.id)
    assert holds(stop)


def test_a_program_counts_only_where_all_is_simulated(site, press, ask, confirm, actor_of):
    stop = press()
    program = grant(make_person("Program", is_scripted=True), site, *Role)
    asked = ask(stop)
    with pytest.raises(NotAllowed):
        confirm(asked, program)
    assert holds(stop)


def test_a_stranger_finds_nothing(press, ask, confirm, outsider, facts):
    asked = ask(press())
    for act in (ask, confirm):
        with pytest.raises(NotFound):
            act(asked, outsider)
    assert facts() == 2


class TestOnePersonAtASimulatedSite:
    def test_an_admin_switches_it_on_and_off(self, actor_of):
        site = make_site(is_simulated=True)
        admin = grant(make_person("Boss"), site, Role.ADMIN, Role.FLOOR_OPERATOR, Role.OPERATOR)
        person = {"actor": actor_of(admin), "site_id": site.id}
        policy = services.change_policy(one_person_clears=True, expected=1, **person)
        assert (policy.one_person_clears, policy.version) == (True, 2)
        stop = services.record_stop(
            stop_id=new_id(), subjects=None, pressed_at=clock.now(), received_at=clock.now(), gateway="g", **person
        )
        asked = services.request_clear(stop_id=stop.id, **person)
        assert services.confirm_clear(stop_id=stop.id, clear_id=asked.clear_id, **person).is_cleared
        with pytest.raises(Stale):
            services.change_policy(one_person_clears=False, expected=1, **person)
        assert not services.change_policy(one_person_clears=False, expected=2, **person).one_person_clears

    def test_never_where_anything_is_real(self, site, admin, actor_of, facts):
        with pytest.raises(Conflict):
            services.change_policy(actor=actor_of(admin), site_id=site.id, one_person_clears=True)
        assert facts() == 0

    def test_only_by_an_admin(self, actor_of):
        site = make_site(is_simulated=True)
        other = grant(make_person("Other"), site, *(set(Role) - {Role.ADMIN}))
        with pytest.raises(NotAllowed):
            services.change_policy(actor=actor_of(other), site_id=site.id, one_person_clears=True)
        assert not selectors.policy_of(site.id).one_person_clears


@pytest.mark.parametrize("how", ["loses the role", "is switched off"])
def test_the_word_of_whoever_left_counts_no_more(site, press, ask, confirm, floor_operator, how, facts):
    stop = press()
    asked = ask(stop)
    if how == "loses the role":
        floor_operator.grants.all().delete()
    else:
        type(floor_operator).objects.filter(id=floor_operator.id).update(is_active=False)
    with pytest.raises(Stale) as refused:
        confirm(asked)
    assert refused.value.code == "asker_gone"
    assert holds(stop)
    assert facts() == 2
