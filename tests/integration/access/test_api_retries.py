"""Repeats do nothing twice, decisions on an old version are refused, lists cost the same however long they are."""

import json
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from apps.kernel.types import Role
from tests.factories.accounts import grant, make_person
from tests.factories.everything import make_event, make_invitation, make_machine, make_token
from tests.integration.access.operations import BODIES, DONE_BY, Operation, operations
from tests.integration.access.world import World, writes

pytestmark = pytest.mark.django_db
WRITES = {one.id: one for one in operations() if one.writes}
# Acts that have nothing to repeat: ending a session twice finds it gone.
UNKEYED = {"end_session"}
# Acts on what the world does not hold: their own tests repeat them.
ELSEWHERE = {"confirm_clear", "request_clear", "reset_alarm", "unshelve_alarm"}
ELSEWHERE |= {"clear_fault", "inject_fault", "release_robot", "reset_scene"}
VERSIONED = ("change_site", "grant_role", "remove_person", "revoke_role")


def _send(world: World, one: Operation, path: str, body: dict[str, Any] | None = None, **headers: str) -> Any:
    """Without undoing it: the test's own transaction does."""
    client = world.cast[DONE_BY.get(one.id, "admin")].client
    data = json.dumps(BODIES.get(one.id, {}) if body is None else body)
    return client.generic(one.method, path, data, "application/json", headers=headers)


@pytest.fixture
def address_of(world: World) -> Any:
    """Where one operation goes; for roles, one that is not held yet is given and one that is held is taken."""

    def find(one: Operation) -> str:
        path = one.address(world, world.cast["admin"])
        return path.replace("/roles/viewer/", "/roles/reviewer/") if one.id == "grant_role" else path

    return find


@pytest.mark.parametrize("name", sorted(WRITES.keys() - UNKEYED - ELSEWHERE - {"accept_invitation"}))
def test_a_repeat_with_the_same_key_does_nothing_again(world: World, address_of: Any, name: str) -> None:
    one = WRITES[name]
    path = address_of(one)
    first = _send(world, one, path, **{"Idempotency-Key": "k-1"})
    assert first.status_code in {200, 201, 204}, first.content
    before = writes()
    again = _send(world, one, path, **{"Idempotency-Key": "k-1"})
    assert again.status_code == first.status_code, again.content
    assert writes() == before, "the repeat wrote something"
    if first.content and "id" in (told := json.loads(first.content)):
        repeated = json.loads(again.content)
        assert repeated["id"] == told["id"]
        assert repeated.get("secret") is None
        assert repeated.get("link") is None


@pytest.mark.parametrize("name", ["create_machine", "create_site", "change_site", "invite_person", "change_preferences"])
def test_a_key_used_for_another_request_is_a_conflict(world: World, address_of: Any, name: str) -> None:
    one = WRITES[name]
    path = address_of(one)
    assert _send(world, one, path, **{"Idempotency-Key": "k-2"}).status_code in {200, 201}
    other = dict(BODIES[name]) | ({"theme": "light"} if name == "change_preferences" else {"name": "Another"})
    answer = _send(world, one, path, other, **{"Idempotency-Key": "k-2"})
    assert (answer.status_code, json.loads(answer.content)["code"]) == (409, "key_reused")


@pytest.mark.parametrize("key", ["", "x" * 101, "a\tb"])
def test_a_key_that_is_none_is_refused(world: World, address_of: Any, key: str) -> None:
    one = WRITES["create_machine"]
    assert _send(world, one, address_of(one), **{"Idempotency-Key": key}).status_code == 422


@pytest.mark.parametrize("name", VERSIONED)
def test_a_decision_on_an_old_version_is_refused(world: World, address_of: Any, name: str) -> None:
    one = WRITES[name]
    path = address_of(one)
    old = '"99"' if name == "change_site" else '"auditor"'
    before = writes()
    answer = _send(world, one, path, **{"If-Match": old})
    assert (answer.status_code, json.loads(answer.content)["code"]) == (412, "stale")
    assert writes() == before
    for wrong in ("99", '"-1"', 'W/"1"', '"approver of all"', '"' + "9" * 300 + '"'):
        assert _send(world, one, path, **{"If-Match": wrong}).status_code == 422


@pytest.mark.parametrize("name", VERSIONED)
def test_a_decision_on_the_version_just_read_is_taken(world: World, address_of: Any, name: str) -> None:
    one = WRITES[name]
    path = address_of(one)
    read = world.cast["admin"].client.get(path.partition("/roles/")[0].rstrip("/") + "/")
    answer = _send(world, one, path, **{"If-Match": read["ETag"]})
    assert answer.status_code in {200, 204}, answer.content


def _more_of(world: World, name: str, count: int) -> None:
    site, person = world.here.site, world.here.person
    for number in range(1000 * count, 1000 * count + count):
        match name:
            case "list_people":
                grant(make_person(f"Extra {number}"), site, Role.VIEWER)
            case "list_machines":
                make_machine(site, person, f"extra {number}")
            case "list_invitations":
                make_invitation(site, person, f"Extra {number}")
            case "list_events":
                make_event(site, person, f"extra {number}")
            case "list_tokens":
                make_token(site, world.cast["admin"].person, f"extra {number}")


@pytest.mark.parametrize("name", ["list_people", "list_machines", "list_invitations", "list_events", "list_tokens"])
def test_a_list_costs_as_many_queries_at_thirty_rows_as_at_three(world: World, name: str) -> None:
    one = next(one for one in operations() if one.id == name)
    path = one.address(world, world.cast["admin"])
    client = world.cast["admin"].client
    counts = []
    for more in (3, 27):
        _more_of(world, name, more)
        client.get(path)  # what is looked up once an hour is looked up now
        with CaptureQueriesContext(connection) as queries:
            answer = client.get(path)
        assert len(json.loads(answer.content)["items"]) >= more
        counts.append(len(queries))
    assert counts[0] == counts[1]
    assert counts[1] <= 10


def test_pages_of_a_list_join_without_gap_or_repeat(world: World) -> None:
    _more_of(world, "list_machines", 12)
    client, path = world.cast["admin"].client, f"/api/v1/sites/{world.here.site.slug}/machines/"
    whole = [row["id"] for row in client.get(path).json()["items"]]
    pieces, cursor = [], ""
    while cursor is not None:
        page = client.get(f"{path}?limit=5" + (f"&cursor={cursor}" if cursor else "")).json()
        pieces += [row["id"] for row in page["items"]]
        cursor = page["next_cursor"]
    assert pieces == whole
