import json
from uuid import UUID

import pytest

from apps.fleet.models import Order, Robot
from apps.journal.models import Event
from apps.kernel.ids import new_id
from apps.kernel.types import Role
from tests.factories.accounts import client_of, grant, make_person
from tests.factories.fleet import connect, facts_of, machine_for, take
from workers.protocol import EpisodeEnded, EpisodeStarted, OrderDone, Outcome

pytestmark = pytest.mark.django_db
JSON = "application/json"


@pytest.fixture
def api(site):
    """`api(Role.ADMIN)("GET", "robots/")`: status, body and headers of a call at this site."""

    def sign_in(role):
        client = client_of(grant(make_person(), site, role))

        def call(method, path, body=None, **headers):
            answer = client.generic(
                method, f"/api/v1/sites/{site.slug}/{path}", "" if body is None else json.dumps(body), JSON, headers=headers
            )
            return answer.status_code, answer.json() if answer.content else None, answer.headers

        return call

    return sign_in


def test_a_robot_from_registration_to_release(site, api):
    call = api(Role.ADMIN)
    asked = {"name": "arm-07", "kind": "arm", "is_simulated": True}
    made = [call("POST", "robots/", asked, **{"Idempotency-Key": "k"}) for _ in "12"]
    assert [status for status, _, _ in made] == [201, 201]
    assert made[0][1] == made[1][1]
    robot = Robot.objects.get()
    connect(machine_for(site, [robot], "arms"), [robot])
    status, shown, headers = call("GET", f"robots/{robot.id}/")
    assert (status, headers["ETag"], shown["bridge"]["name"], shown["cameras"]) == (200, '"2"', "arms", ["front"])
    assert shown["channels"][0] == {"name": "gripper", "unit": "mm", "low": 0.0, "high": 80.0, "headline": True}
    assert call("DELETE", f"robots/{robot.id}/bridge/", **{"If-Match": '"1"'})[0] == 412
    status, freed, headers = call("DELETE", f"robots/{robot.id}/bridge/", **{"If-Match": '"2"'})
    assert (status, freed["bridge_id"], headers["ETag"]) == (200, None, '"3"')
    assert call("DELETE", f"robots/{robot.id}/bridge/")[0] == 409


def test_robots_and_episodes_are_listed(site, api, robot, machine, claim, boot):
    episode = new_id()
    ended = EpisodeEnded(episode=episode, outcome=Outcome.SUCCESS, steps=45)
    take(machine, claim, facts_of(boot, robot, EpisodeStarted(episode=episode, task="pick", driver="policy"), ended))
    call = api(Role.VIEWER)
    assert [one["need"] for one in call("GET", "robots/?need=lost")[1]["items"]] == ["lost"]
    listed = call("GET", "episodes/?outcome=success")[1]["items"]
    assert [(one["id"], one["robot"], one["steps"]) for one in listed] == [(str(episode), "arm-01", 45)]
    assert call("GET", f"episodes/{episode}/")[1]["outcome"] == "success"
    assert [one["name"] for one in call("GET", "bridges/")[1]["items"]] == ["arms"]
    assert call("GET", "bridges/?x=1")[0] == 422


def test_a_fault_and_what_became_of_it(api, robot, machine, claim, boot):
    call = api(Role.OPERATOR)
    status, order, _ = call("POST", f"robots/{robot.id}/faults/", {"name": "gripper_slip", "seconds": 5})
    assert (status, order["arguments"], order["done_at"]) == (202, {"name": "gripper_slip", "seconds": 5.0}, None)
    take(machine, claim, facts_of(boot, robot, OrderDone(order=UUID(order["id"]), succeeded=True, detail="slipping")))
    _, done, _ = call("GET", f"orders/{order['id']}/")
    assert (done["succeeded"], done["detail"]) == (True, "slipping")
    assert call("DELETE", f"robots/{robot.id}/faults/gripper_slip/")[0] == 202
    assert call("DELETE", f"robots/{robot.id}/faults/all/")[0] == 202
    assert call("DELETE", f"robots/{robot.id}/faults/love/")[0] == 404


def test_a_reset(api, robot, claim):
    assert api(Role.FLOOR_OPERATOR)("POST", f"robots/{robot.id}/reset/")[1]["name"] == "reset_scene"
    assert api(Role.ADMIN)("POST", f"robots/{robot.id}/reset/")[0] == 403


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("robots/", {"name": "a"}),
        ("robots/", {"name": "a", "kind": "arm", "owner": "x"}),
        ("robots/", {"name": "a\u202eb", "kind": "arm"}),
        ("robots/", {"name": ["a"], "kind": "arm"}),
        ("robots/", {"name": "a", "kind": "arm", "is_simulated": "maybe"}),
        ("robots/{robot}/faults/", {"name": "love"}),
        ("robots/{robot}/faults/", {"name": "gripper_slip", "seconds": -1}),
        ("robots/{robot}/faults/", {"name": "gripper_slip", "seconds": True}),
        ("robots/{robot}/faults/", {"name": "gripper_slip", "seconds": "5"}),
        ("robots/{robot}/faults/", {}),
    ],
)
def test_bad_bodies_change_nothing(api, robot, claim, path, body):
    before = Robot.objects.count()
    assert api(Role.ADMIN)("POST", path.format(robot=robot.id), body)[0] == 422
    assert (Robot.objects.count(), Order.objects.count()) == (before, 0)


@pytest.mark.parametrize(
    ("role", "method", "path", "body"),
    [
        (Role.ADMIN, "DELETE", "bridge/", None),
        (Role.FLOOR_OPERATOR, "POST", "reset/", None),
        (Role.OPERATOR, "POST", "faults/", {"name": "gripper_slip"}),
        (Role.OPERATOR, "DELETE", "faults/gripper_slip/", None),
    ],
)
def test_a_repeat_with_the_same_key_does_nothing_again(api, robot, claim, role, method, path, body):
    call = api(role)
    first = call(method, f"robots/{robot.id}/{path}", body, **{"Idempotency-Key": "k"})
    events = Event.objects.count()
    again = call(method, f"robots/{robot.id}/{path}", body, **{"Idempotency-Key": "k"})
    assert first[0] in {200, 202}
    assert first[:2] == again[:2]
    assert Event.objects.count() == events
