import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from apps.alarms import selectors, services
from apps.alarms.types import Condition
from apps.kernel import clock
from apps.kernel.types import system_actor
from tests.factories.fleet import robot_row

pytestmark = pytest.mark.django_db
HTMX = {"HX-Request": "true"}


@pytest.fixture
def browser(operator, client_of):
    return client_of(operator)


@pytest.fixture
def page(site, browser):
    return lambda path="", **more: browser.get(f"/sites/{site.slug}/alarms/{path}", **more).content.decode()


def test_a_calm_site_says_so(page):
    assert "No alarm stands" in page()
    assert "No alarms" in page()


def test_every_page_carries_the_line(site, subject, say, browser):
    say("bridge_lost", subject("bridge"), detail="silent for 3 s")
    for path in ("", "alarms/", "stops/", "robots/"):
        text = browser.get(f"/sites/{site.slug}/{path}", follow=True).content.decode()
        assert 'id="alarm-strip"' in text, path
        assert f'data-topic="site.alarms:{site.id}"' in text
        assert "Bridge lost" in text
        assert "silent for 3 s" in text
        assert "un-p1" in text


def test_what_nobody_saw_comes_first_then_priority(subject, say, site, operator, actor_of):
    for name in ("valkey_lost", "policy_unsafe", "bridge_lost"):
        say(name, subject())
    urgent = selectors.standing_alarms(site.id)[0].alarm
    services.acknowledge(actor=actor_of(operator), site_id=site.id, alarm_id=urgent.id)
    assert [row.alarm.definition for row in selectors.standing_alarms(site.id)] == [
        "policy_unsafe",
        "valkey_lost",
        "bridge_lost",
    ]


def test_acknowledged_from_the_line(site, subject, say, alarm_of, browser):
    robot = subject()
    say("state_stale", robot)
    url = f"/sites/{site.slug}/alarms/{alarm_of(robot).id}/acknowledge/"
    answer = browser.post(url, {"seen": 1}, headers=HTMX | {"HX-Target": "alarm-strip"})
    assert answer.status_code == 200
    text = answer.content.decode()
    assert text.strip().startswith("<section")
    assert "All seen: 1 alarm standing" in text
    assert alarm_of(robot).acknowledged_by_name == "Operator"


def test_what_grew_meanwhile_is_refused(site, subject, say, alarm_of, browser):
    bridge, one, two = subject("bridge"), subject(), subject()
    say("camera_black", one, cause=bridge)
    shown = alarm_of(one)
    say("camera_black", two, cause=bridge)
    answer = browser.post(f"/sites/{site.slug}/alarms/{shown.id}/acknowledge/", {"seen": shown.version}, headers=HTMX)
    assert answer.status_code == 412
    assert alarm_of(one).is_unseen


def test_shelved_with_a_reason_and_shown_again(site, subject, say, alarm_of, browser, page):
    robot = subject()
    say("state_stale", robot)
    url = f"/sites/{site.slug}/alarms/{alarm_of(robot).id}/"
    assert browser.post(f"{url}shelve/", {"minutes": 30, "reason": ""}, headers=HTMX).status_code == 422
    text = browser.post(f"{url}shelve/", {"minutes": 30, "reason": "new camera"}, headers=HTMX).content.decode()
    assert "new camera" in text
    assert "No alarm stands" in text
    assert "1 shelved" in page()
    browser.post(f"{url}unshelve/", headers=HTMX)
    assert alarm_of(robot).shelved_until is None


def test_robots_are_called_by_their_names(site, say, page, alarm_of):
    robot = robot_row(site, "arm-07")
    from apps.kernel.types import SubjectRef

    ref = SubjectRef("robot", robot.id, site_id=site.id)
    say("camera_frozen", ref, detail="same picture for 4 s")
    assert "arm-07" in page()
    detail = page(f"{alarm_of(ref).id}/")
    assert f"/sites/{site.slug}/robots/{robot.id}/" in detail
    assert "Reconnect the camera" in detail


def test_the_response_and_the_table_of_definitions(page):
    text = page("definitions/")
    assert "Bridge lost" in text
    assert "press the hardware stop" in text


def test_history_keeps_what_is_over(site, subject, say, alarm_of, operator, actor_of, page):
    robot = subject()
    say("state_stale", robot)
    say("state_stale", robot, active=False)
    services.acknowledge(actor=actor_of(operator), site_id=site.id, alarm_id=alarm_of(robot).id)
    assert "No new state" in page("history/")
    assert "No alarm is like that" in page("history/?priority=1")


def test_a_viewer_sees_no_controls(site, subject, say, viewer, client_of):
    say("state_stale", subject())
    text = client_of(viewer).get(f"/sites/{site.slug}/alarms/").content.decode()
    assert "No new state" in text
    assert "Acknowledge" not in text
    assert "Shelve…" not in text


def test_as_many_queries_for_fifty_alarms_as_for_two(site, subject, browser):
    def count(alarms):
        found = [Condition("state_stale", subject(), active=True, at=clock.now()) for _ in range(alarms)]
        services.set_conditions(actor=system_actor("tests"), conditions=found)
        with CaptureQueriesContext(connection) as queries:
            browser.get(f"/sites/{site.slug}/alarms/")
        return len(queries)

    count(1)
    assert count(1) == count(50)


def test_what_another_alarm_explains_is_listed_but_not_counted(site, subject, say):
    bridge, robot = subject("bridge"), subject()
    say("camera_frozen", robot, cause=bridge)
    assert selectors.strip(site.id).unseen == 1
    say("bridge_lost", robot, cause=bridge)
    strip = selectors.strip(site.id)
    assert (strip.unseen, strip.first.alarm.definition) == (1, "bridge_lost")
    assert [row.is_hidden for row in selectors.standing_alarms(site.id)] == [False, True]
