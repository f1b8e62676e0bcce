import re

import pytest
from django.urls import reverse

from apps.fleet.models import Order, Robot
from apps.journal.events import registered
from apps.kernel.ids import new_id
from apps.kernel.types import Role
from apps.shell.selectors.robot_sentences import ROBOT_SENTENCES
from tests.factories.accounts import client_of, grant, make_person, make_site
from tests.factories.fleet import connect, facts_of, machine_for, make_robot, take
from workers.protocol import Channel, Described, EpisodeEnded, EpisodeStarted, NeedsReset, Outcome

pytestmark = pytest.mark.django_db
HTMX = {"HX-Request": "true"}
SCRIPT = "<script>alert(1)</script>"
ATTRIBUTE = '" onmouseover="alert(1)\' x='


def at(name, site, **more):
    return reverse(f"fleet:{name}", kwargs={"site_slug": site.slug, **more})


@pytest.fixture
def browser(site):
    def sign_in(role):
        return client_of(grant(make_person(), site, role))

    return sign_in


def test_a_robot_is_registered_on_its_page_once(site, browser):
    client = browser(Role.ADMIN)
    page = client.get(at("robot_register", site)).content.decode()
    key = re.search(r'name="idempotency_key" value="([^"]+)"', page)[1]
    asked = {"name": "arm-07", "kind": "arm", "is_simulated": "on", "idempotency_key": key}
    for _ in "12":
        answer = client.post(at("robot_register", site), asked)
        assert answer.status_code == 302
    robot = Robot.objects.get()
    assert answer["Location"] == at("robot_detail", site, robot_id=robot.id)
    assert f"robot:{robot.id}" in client.get(answer["Location"]).content.decode()


def test_what_is_wrong_stands_at_its_field(site, browser, robot):
    client = browser(Role.ADMIN)
    answer = client.post(at("robot_register", site), {"name": " ", "kind": "arm"}, headers=HTMX)
    assert answer.status_code == 422
    answer = client.post(at("robot_register", site), {"name": "a", "kind": "arm"}, headers=HTMX)
    assert "At a simulated site every robot is simulated." in answer.content.decode()
    answer = client.post(at("robot_register", site), {"name": robot.name, "kind": "arm", "is_simulated": "on"}, headers=HTMX)
    assert answer.status_code == 409


def test_a_robot_is_released_from_its_page(site, browser, robot, claim):
    client = browser(Role.ADMIN)
    stale = client.post(at("robot_release", site, robot_id=robot.id), {"expected": 1})
    assert stale.status_code == 412
    answer = client.post(at("robot_release", site, robot_id=robot.id), {"expected": 2}, headers=HTMX)
    assert (answer.status_code, answer["HX-Redirect"]) == (204, at("robot_detail", site, robot_id=robot.id))
    robot.refresh_from_db()
    assert robot.bridge_id is None


def test_a_floor_operator_asks_for_a_reset(site, browser, robot, claim):
    answer = browser(Role.FLOOR_OPERATOR).post(at("scene_reset", site, robot_id=robot.id))
    assert answer.status_code == 302
    assert Order.objects.get().name == "reset_scene"


class TestFaultKnobs:
    """One form for several robots: each gets its own order, and its own answer."""

    def test_a_fault_is_injected_and_cleared(self, site, browser, robot, claim):
        other = make_robot(site, "arm-02")
        client = browser(Role.OPERATOR)
        asked = {
            "robots": [robot.id, other.id],
            "fault": "gripper_slip",
            "seconds": 5,
            "order": "inject_fault",
            "idempotency_key": "k",
        }
        for _ in "12":
            page = client.post(at("fault_knobs", site), asked, headers=HTMX).content.decode()
        assert "bridge is not connected" in page
        assert "says what it did" in page
        assert [(one.robot_id, one.arguments) for one in Order.objects.all()] == [
            (robot.id, {"name": "gripper_slip", "seconds": 5})
        ]
        client.post(at("fault_knobs", site), asked | {"order": "clear_fault", "fault": "all", "idempotency_key": "l"})
        assert [(one.name, one.arguments) for one in Order.objects.order_by("-id")[:1]] == [("clear_fault", {"name": "all"})]

    @pytest.mark.parametrize(
        "wrong", [{"robots": []}, {"fault": "love"}, {"seconds": 601}, {"order": "reset_scene"}, {"robots": [new_id()]}]
    )
    def test_what_is_wrong_places_nothing(self, site, browser, robot, claim, wrong):
        asked = {"robots": [robot.id], "fault": "gripper_slip", "seconds": 5, "order": "inject_fault"}
        assert browser(Role.ADMIN).post(at("fault_knobs", site), asked | wrong).status_code == 422
        assert not Order.objects.exists()

    def test_every_fault_at_once_can_only_be_cleared(self, site, browser, robot, claim):
        asked = {"robots": [robot.id], "fault": "all", "seconds": 5, "order": "inject_fault"}
        assert browser(Role.ADMIN).post(at("fault_knobs", site), asked).status_code == 422
        assert not Order.objects.exists()

    def test_a_real_site_has_none(self):
        site = make_site()
        make_robot(site)
        client = client_of(grant(make_person(), site, Role.ADMIN))
        assert "No simulated robot at this site" in client.get(at("fault_knobs", site)).content.decode()


def test_empty_lists_say_so(site, browser):
    client = browser(Role.VIEWER)
    assert "No robot yet" in client.get(at("robot_list", site)).content.decode()
    assert "No robot is like that" in client.get(at("robot_list", site), {"name": "x"}).content.decode()
    assert "No episode yet" in client.get(at("episode_list", site)).content.decode()


def test_a_list_that_cannot_be_shown_so_is_refused(site, browser):
    client = browser(Role.VIEWER)
    assert client.get(at("robot_list", site), {"need": "love"}).status_code == 422
    assert client.get(at("episode_list", site), {"owner": "x"}).status_code == 422


def test_filters_stay_with_the_next_page(site, browser):
    for number in range(60):
        make_robot(site, f"arm-{number:02d}")
    page = browser(Role.VIEWER).get(at("robot_list", site), {"name": "arm", "sort": "name"}).content.decode()
    link = re.search(r'href="\?([^"]*cursor=[^"]*)"', page)[1]
    assert "name=arm" in link
    assert "sort=name" in link
    rest = browser(Role.VIEWER).get(f"{at('robot_list', site)}?{link.replace('&amp;', '&')}").content.decode()
    assert "arm-59" in rest
    assert "arm-00" not in rest


@pytest.fixture
def hostile(site):
    """A robot, a bridge and an episode, all of whose words try to run in a browser."""
    words = {"task": SCRIPT, "driver": ATTRIBUTE, "skill": SCRIPT}
    robot = make_robot(site, f"{SCRIPT}{ATTRIBUTE}", kind=SCRIPT)
    machine = machine_for(site, [robot], f"{SCRIPT}b")
    boot, episode = new_id(), new_id()
    channels = [Channel(name=SCRIPT, unit="<b>", headline=True)]
    described = [Described(subject=f"robot:{robot.id}", kind=SCRIPT, is_simulated=True, channels=channels, cameras=[ATTRIBUTE])]
    claim = connect(machine, [robot], boot=boot, described=described, software=SCRIPT, gateway=SCRIPT)
    ended = EpisodeEnded(episode=episode, outcome=Outcome.FAILURE, steps=1, reason=SCRIPT)
    take(machine, claim, facts_of(boot, robot, EpisodeStarted(episode=episode, **words), ended, NeedsReset(reason=ATTRIBUTE)))
    return robot


@pytest.mark.parametrize("name", ["robot_list", "robot_detail", "robot_log", "episode_list", "fault_knobs"])
@pytest.mark.parametrize("headers", [{}, HTMX], ids=["page", "part"])
def test_names_and_words_of_machines_are_inert(site, browser, hostile, name, headers):
    """Attack 39: script in a robot's name, its channels, its task, a reason, the name of a bridge."""
    more = {"robot_id": hostile.id} if name in {"robot_detail", "robot_log"} else {}
    answer = browser(Role.ADMIN).get(at(name, site, **more), headers=headers)
    page = answer.content.decode()
    assert answer.status_code == 200
    assert "<script>alert" not in page
    assert 'onmouseover="alert' not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
    policy = answer["Content-Security-Policy"]
    assert "unsafe-inline" not in policy


def test_the_floor_shows_them_inert_too(site, browser, hostile):
    """Attack 39, on the floor."""
    page = browser(Role.VIEWER).get(f"/sites/{site.slug}/floor/").content.decode()
    assert "<script>alert" not in page
    assert 'onmouseover="alert' not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page


def test_the_log_tells_each_fact_in_a_sentence(site, browser, robot, machine, claim, boot):
    take(machine, claim, facts_of(boot, robot, NeedsReset(reason="block on the floor")))
    page = browser(Role.VIEWER).get(at("robot_log", site, robot_id=robot.id)).content.decode()
    assert "arm-01 needs a person on the floor: block on the floor" in page
    assert "Bridge arms speaks for arm-01 from now on" in page
    known = {name for name, _version in registered() if name.startswith("fleet.")}
    assert known == set(ROBOT_SENTENCES)
