import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from apps.control import services
from apps.control.models import Stop
from apps.kernel.ids import new_id
from apps.kernel.types import Role, SubjectRef
from tests.factories.accounts import grant, make_person, make_site
from tests.factories.fleet import robot_row

pytestmark = pytest.mark.django_db
HTMX = {"HX-Request": "true"}


@pytest.fixture
def page(site, operator, client_of):
    return lambda person=operator: client_of(person).get(f"/sites/{site.slug}/stops/").content.decode()


def test_nothing_is_stopped(page):
    assert "Nothing is stopped" in page()


def test_it_says_who_stopped_whom_and_what_each_robot_says(site, press, latch, page):
    arms = [robot_row(site, f"arm-{number:02}") for number in range(3)]
    refs = [SubjectRef("robot", arm.id, site_id=site.id) for arm in arms]
    stop = press(*refs)
    latch(stop.id, refs[0])
    text = page()
    assert "3 robots stopped" in text
    assert "by Viewer" in text
    assert "1 of 3 confirmed" in text
    assert "2 did not confirm" in text
    assert f'<a href="/sites/{site.slug}/robots/{arms[0].id}/">arm-00</a> latched' in text


def test_cleared_by_two_people_on_their_pages(site, press, floor_operator, operator, client_of, page):
    stop = press()
    url = f"/sites/{site.slug}/stops/{stop.id}/clear/"
    assert "ask to clear" in page(floor_operator)
    assert "ask to clear" not in page(operator)
    asked = client_of(floor_operator).post(url, headers=HTMX)
    assert asked.status_code == 200
    assert "You asked" in asked.content.decode()
    clear_id = Stop.objects.get().clear_id
    assert "Hold 2 s: clear" in page(operator)
    assert "Hold 2 s: clear" not in page(floor_operator)
    alone = client_of(floor_operator).post(f"{url}{clear_id}/confirm/", headers=HTMX)
    assert alone.status_code == 403
    done = client_of(operator).post(f"{url}{clear_id}/confirm/", headers=HTMX)
    assert "Nothing is stopped" in done.content.decode()
    assert "Floor operator and Operator" in done.content.decode()
    replayed = client_of(operator).post(f"{url}{clear_id}/confirm/", headers=HTMX)
    assert replayed.status_code == 409


def test_left_stopped(site, press, floor_operator, client_of):
    stop = press()
    url = f"/sites/{site.slug}/stops/{stop.id}/clear/"
    client = client_of(floor_operator)
    client.post(url)
    client.post(f"{url}{Stop.objects.get().clear_id}/withdraw/")
    assert Stop.objects.get().phase == "active"


def test_a_stop_that_is_not_recorded_yet_is_shown(robot, latch, page):
    latch(new_id(), robot)
    assert "who pressed is still on its way here" in page()


def test_an_admin_of_a_simulated_site_lets_one_person_clear(client_of):
    site = make_site(is_simulated=True)
    admin = grant(make_person("Boss"), site, Role.ADMIN)
    client = client_of(admin)
    assert "Let one person clear" in client.get(f"/sites/{site.slug}/stops/").content.decode()
    answer = client.post(f"/sites/{site.slug}/stops/policy/", {"one_person_clears": "on", "expected": 1}, headers=HTMX)
    assert "Ask for two people" in answer.content.decode()


def test_a_real_site_does_not_offer_it(page, admin):
    assert "Let one person clear" not in page(admin)


def test_as_many_queries_for_a_thousand_robots_as_for_two(site, press, operator, client_of):
    client = client_of(operator)

    def count(robots):
        press(sent_to=[SubjectRef("robot", new_id(), site_id=site.id) for _ in range(robots)])
        with CaptureQueriesContext(connection) as queries:
            answer = client.get(f"/sites/{site.slug}/stops/")
        assert len(answer.content) < 200_000
        return len(queries)

    count(2)
    assert count(2) == count(1000)


def test_over_the_api(site, press, floor_operator, operator, client_of):
    stop = press()
    url = f"/api/v1/sites/{site.slug}/stops/"
    listed = client_of(operator).get(url).json()["items"]
    assert [(one["id"], one["phase"], one["is_whole_site"]) for one in listed] == [(str(stop.id), "active", True)]
    asked = client_of(floor_operator).post(f"{url}{stop.id}/clear/", content_type="application/json")
    assert (asked.status_code, asked.json()["phase"]) == (201, "clear_requested")
    done = client_of(operator).post(f"{url}{stop.id}/clear/{asked.json()['clear']['id']}/", content_type="application/json")
    assert (done.status_code, done.json()["phase"]) == (200, "cleared")
    assert client_of(operator).get(f"{url}?phase=active").json()["items"] == []


def test_the_worker_drops_what_ran_out(site, press, floor_operator, actor_of):
    from datetime import timedelta

    from apps.control import tasks

    stop = press()
    services.request_clear(actor=actor_of(floor_operator), site_id=site.id, stop_id=stop.id)
    Stop.objects.update(clear_expires_at=stop.recorded_at - timedelta(seconds=1))
    tasks.drop_expired_clears()
    assert Stop.objects.get().phase == "active"
