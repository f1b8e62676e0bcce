from datetime import timedelta

import pytest
from django.db import DatabaseError

from apps.alarms import services, tasks
from apps.alarms.models import Alarm
from apps.alarms.services import watching
from apps.alarms.types import Condition, State
from apps.fleet.models import GatewayNode
from apps.kernel import clock
from apps.kernel.errors import NotAllowed
from apps.kernel.types import SubjectRef, system_actor
from tests.factories.fleet import bridge_row, robot_row

pytestmark = pytest.mark.django_db
CONSOLE = system_actor("tests")


@pytest.fixture
def calm(monkeypatch):
    """A machine on which nothing is wrong, whatever this one is like."""
    monkeypatch.setattr(watching.journal, "tail_lag_s", lambda: 0.1)
    monkeypatch.setattr(watching.shutil, "disk_usage", lambda _path: type("Usage", (), {"used": 50, "free": 50, "total": 100}))


def standing(site):
    return set(Alarm.objects.filter(site=site, closed_at=None, active_count__gt=0).values_list("definition", flat=True))


def look():
    return services.look_around(actor=CONSOLE)


def test_nothing_is_wrong(calm, site):
    assert look() == 0
    assert standing(site) == set()


def test_each_thing_at_every_site_once(calm, site, other_site, monkeypatch):
    monkeypatch.setattr(watching.journal, "tail_lag_s", lambda: 2.5)
    assert look() == 2
    assert look() == 0
    assert standing(site) == standing(other_site) == {"tail_lag"}
    monkeypatch.setattr(watching.journal, "tail_lag_s", lambda: 1.5)
    assert look() == 0, "within the deadband nothing changes"
    monkeypatch.setattr(watching.journal, "tail_lag_s", lambda: 0.2)
    assert look() == 2
    assert set(Alarm.objects.values_list("state", flat=True)) == {State.RETURNED}


def test_a_disk_that_fills(calm, site, monkeypatch):
    usage = type("Usage", (), {"used": 95, "free": 5, "total": 100})
    monkeypatch.setattr(watching.shutil, "disk_usage", lambda _path: usage)
    look()
    assert standing(site) == {"disk_nearly_full"}
    assert Alarm.objects.get().detail.startswith("95% used")


def test_a_valkey_that_does_not_answer(calm, site, settings):
    settings.VALKEY_URL = "redis://127.0.0.1:1"
    look()
    assert standing(site) == {"valkey_lost"}


def test_one_watch_that_fails_does_not_blind_the_others(calm, site, monkeypatch):
    def broken():
        raise DatabaseError

    monkeypatch.setattr(watching.journal, "tail_lag_s", broken)
    usage = type("Usage", (), {"used": 95, "free": 5, "total": 100})
    monkeypatch.setattr(watching.shutil, "disk_usage", lambda _path: usage)
    look()
    assert standing(site) == {"disk_nearly_full"}


def test_people_do_not_look_for_the_console(admin, actor_of):
    with pytest.raises(NotAllowed):
        services.look_around(actor=actor_of(admin))


def test_what_runs_every_five_seconds(calm, site):
    tasks.look_around()


class TestGatewaysAndBridges:
    def test_a_gateway_that_is_not_heard_of(self, calm, site):
        node = GatewayNode.objects.create(name="gateway-2", seen_at=clock.now() - timedelta(seconds=12))
        look()
        assert standing(site) == {"gateway_lost"}
        GatewayNode.objects.filter(name=node.name).update(seen_at=clock.now())
        look()
        assert standing(site) == set()

    def test_one_that_was_taken_away_long_ago_is_not_lost(self, calm, site):
        GatewayNode.objects.create(name="old", seen_at=clock.now() - timedelta(days=2))
        assert look() == 0

    def test_with_it_go_its_bridges(self, calm, site):
        bridge = bridge_row(site, "bridge-1")
        robot = robot_row(site, "arm-01")
        type(robot).objects.filter(id=robot.id).update(bridge=bridge)
        ago = clock.now() - timedelta(seconds=10)
        type(bridge).objects.filter(id=bridge.id).update(lost_at=ago)
        look()
        alarm = Alarm.objects.get(definition="bridge_lost")
        assert (alarm.cause_kind, alarm.cause_id, alarm.active_count) == ("bridge", bridge.id, 1)
        assert look() == 0
        type(bridge).objects.filter(id=bridge.id).update(lost_at=None)
        look()
        assert Alarm.objects.get(definition="bridge_lost").state == State.RETURNED


class TestTime:
    def test_shelving_ends_by_itself(self, site, subject, say, alarm_of, operator, actor_of, monkeypatch):
        robot = subject()
        say("state_stale", robot)
        alarm = alarm_of(robot)
        said = {"minutes": 5, "reason": "known"}
        services.shelve_alarm(actor=actor_of(operator), site_id=site.id, alarm_id=alarm.id, **said)
        assert services.tend_alarms(actor=CONSOLE) == 0
        later = clock.now() + timedelta(minutes=6)
        monkeypatch.setattr("apps.alarms.services.watching.clock.now", lambda: later)
        assert services.tend_alarms(actor=CONSOLE) == 1
        assert alarm_of(robot).shelved_until is None

    def test_what_nobody_saw_in_time_is_late_once(self, subject, say, alarm_of, monkeypatch):
        robot = subject()
        say("state_stale", robot)
        assert services.tend_alarms(actor=CONSOLE) == 0
        later = clock.now() + timedelta(seconds=61)
        monkeypatch.setattr("apps.alarms.services.watching.clock.now", lambda: later)
        assert [services.tend_alarms(actor=CONSOLE) for _ in "12"] == [1, 0]
        assert alarm_of(robot).escalated_at is not None
        say("state_stale", SubjectRef("robot", robot.id, site_id=robot.site_id), active=False)
        assert alarm_of(robot).is_unseen, "late or not, it waits"


class TestWatchesOfAppsAbove:
    @pytest.fixture
    def watch_by(self, monkeypatch):
        monkeypatch.setattr(watching, "_WATCHES", {})
        return services.watch_by

    def test_are_asked_at_every_look(self, calm, site, subject, watch_by):
        robot, asked = subject(), []

        def watch(now):
            asked.append(now)
            return [Condition("policy_unsafe", robot, active=len(asked) == 1, at=now)]

        watch_by("tests", watch)
        assert [look(), look(), look()] == [1, 1, 0]
        assert len(asked) == 3

    def test_have_one_name_each(self, watch_by):
        watch_by("tests", lambda _now: [])
        with pytest.raises(ValueError, match="two watches"):
            watch_by("tests", lambda _now: [])
