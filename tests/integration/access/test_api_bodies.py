"""Attack 30: what is posted: unknown fields, foreign types, unclean text, too much. All refused, nothing is written."""

import json
from functools import partial
from typing import Any

import pytest

from apps.accounts.models import Person, RoleGrant
from tests.integration.access.operations import BODIES, DONE_BY, Operation, operations
from tests.integration.access.routes import routes
from tests.integration.access.table import URLS, entry_of
from tests.integration.access.test_matrix import address
from tests.integration.access.world import Called, World

pytestmark = pytest.mark.django_db
WRITES = [one for one in operations() if one.writes]
WITH_BODY = [one for one in WRITES if one.schema is not None]
FOREIGN = {
    "role": "admin",
    "roles_seen": [],
    "project": "x",
    "approved_by": "x",
    "epoch": 9,
    "is_staff": True,
    "is_superuser": True,
    "is_simulated": True,
    "is_scripted": False,
    "reward": 1e9,
    "id": "00000000-0000-7000-8000-000000000000",
    "person_id": "00000000-0000-7000-8000-000000000000",
    "site_id": "00000000-0000-7000-8000-000000000000",
    "digest": "00",
    "prefix": "aaaaaaaaaaaa",
    "created_at": "2026-01-01T00:00:00Z",
    "expires_at": "2099-01-01T00:00:00Z",
    "revoked_at": None,
    "version": 1,
    "__class__": "x",
}
named = pytest.mark.parametrize("one", WITH_BODY, ids=lambda one: one.id)


def send(world: World, one: Operation, body: Any, *, who: str = "", **extra: Any) -> Called:
    member = world.cast[who or DONE_BY.get(one.id, "admin")]
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    return world.call(member, one.method, partial(one.address, world, member), data=data, **extra)


def refused(called: Called, status: int = 422) -> dict[str, Any]:
    """The problem in a refusal, which wrote nothing and tells nothing of our insides."""
    assert called.outcome == status, f"{called.path}: {called.outcome} {called.response.content[:300]!r}"
    assert called.written == 0
    assert called.response["Content-Type"] == "application/problem+json"
    found: dict[str, Any] = json.loads(called.response.content)
    assert found["status"] == status
    assert found["correlation_id"] == called.response["X-Correlation-Id"]
    for word in ("SELECT", "psycopg", "Traceback", "django."):
        assert word not in called.response.content.decode()
    return found


def test_every_operation_with_a_body_has_an_example() -> None:
    assert {one.id for one in WITH_BODY} == set(BODIES)


# A right body whose act this world does not admit: no such secret was made, and no site of it is simulated.
AS_FAR_AS = {"accept_invitation": {404}, "inject_fault": {403}}


@named
def test_the_example_body_is_right(world: World, one: Operation) -> None:
    called = send(world, one, BODIES[one.id])
    assert called.outcome in AS_FAR_AS.get(one.id, {200, 201}), called.response.content


@pytest.mark.parametrize("one", WRITES, ids=lambda one: one.id)
def test_fields_that_nobody_may_set_are_refused(world: World, one: Operation) -> None:
    known = set((one.schema or {}).get("properties", {}))
    for name in FOREIGN.keys() - known:
        found = refused(send(world, one, {**BODIES.get(one.id, {}), name: FOREIGN[name]}))
        assert name in found["errors"]


@named
def test_unclean_text_is_refused_by_field(world: World, one: Operation) -> None:
    for name, value in BODIES[one.id].items():
        if isinstance(value, str):
            for dirt in ("\x00", "\x1b[31m", "\n", "\ud800", "\u202e", "\x7f"):
                found = refused(send(world, one, {**BODIES[one.id], name: value + dirt + "x"}))
                assert name in found["errors"], (name, dirt)


@named
def test_values_of_another_kind_are_refused_by_field(world: World, one: Operation) -> None:
    for name in BODIES[one.id]:
        for value in ({}, {"$ne": 1}, None, 10**400 if name == "days" else 7.5):
            found = refused(send(world, one, {**BODIES[one.id], name: value}))
            assert name in found["errors"], (name, value)


@named
@pytest.mark.parametrize(
    "body",
    [
        b"{",
        b'{"a": NaN}',
        b'{"a": 1, "a": 2}',
        b"[" * 100_000,
        b'{"a": 1e999}',
        b"\xff\xfe",
        b"[]",
        b'"text"',
        b"null",
        b"1" * 5000,
    ],
    ids=["cut", "nan", "twice", "deep", "huge", "no-utf8", "list", "text", "null", "digits"],
)
def test_bodies_that_are_no_object_are_refused(world: World, one: Operation, body: bytes) -> None:
    refused(send(world, one, body))


@named
def test_a_field_given_twice_is_refused(world: World, one: Operation) -> None:
    """Readers of JSON differ in which of the two counts, so that a check on the way may see another one than we do."""
    right = json.dumps(BODIES[one.id])
    name, value = next(iter(BODIES[one.id].items()))
    refused(send(world, one, f"{right[:-1]}, {json.dumps(name)}: {json.dumps(value)}}}".encode()))


@named
def test_bodies_over_the_limit_are_refused(world: World, one: Operation) -> None:
    refused(send(world, one, b'{"name": "' + b"x" * (1024 * 1024) + b'"}'), 413)


@named
@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", "application/xml"])
def test_bodies_of_another_type_are_refused(world: World, one: Operation, kind: str) -> None:
    refused(send(world, one, BODIES[one.id], content_type=kind), 415)


@pytest.mark.parametrize("entry", [entry for entry, rules in URLS.items() if "POST" in rules and not entry.startswith("api:")])
def test_forms_pass_over_fields_that_nobody_may_set(world: World, entry: str) -> None:
    """Nothing that a form does not have reaches a row, whoever posts it."""
    route = next((route for route in routes() if entry_of(route.name) == entry), None)
    assert route is not None
    before = _powers()
    for name in ("anonymous", "viewer", "admin"):
        member = world.cast[name]
        data = "&".join(f"{field}={value}" for field, value in FOREIGN.items() if field != "role").encode()
        kind = "application/x-www-form-urlencoded"
        found: list[Any] = []
        world.call(
            member,
            "POST",
            partial(address, world, route, "here", member),
            data=data,
            content_type=kind,
            look=lambda found=found: found.append(_powers()),
        )
        gained = found[0] - before
        assert not gained, f"{entry} as {name} gave {gained}"


def _powers() -> set[tuple[Any, ...]]:
    staff = {("staff", *row) for row in Person.objects.filter(is_staff=True).values_list("id", "is_superuser")}
    return staff | {("grant", *row) for row in RoleGrant.objects.values_list("person_id", "site_id", "role")}
