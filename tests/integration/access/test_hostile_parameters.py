"""Attack 31: parameters of every address that reads, as attackers write them: refused by the API, and never part of a query."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any
from urllib.parse import quote

import pytest
from django.db import connection

from tests.integration.access.operations import operations
from tests.integration.access.routes import routes
from tests.integration.access.table import URLS, entry_of
from tests.integration.access.test_matrix import address
from tests.integration.access.world import World

pytestmark = pytest.mark.django_db
MARK = "zq9"  # in every hostile text, so that it can be looked for
NAMES = [
    f"owner__password{MARK}",
    f"site__grants__person__password__startswith{MARK}",
    f'x"."{MARK}',
    f"{MARK}.b",
    f"{MARK}) FROM accounts_person--",
    f"{MARK}'",
    f"{MARK}\x00",
    f"{MARK}\n",
    f"_connector{MARK}",
    f"{MARK}%s",
    f"{MARK}\u202e",
]
VALUES = [
    f"id);DELETE FROM accounts_person;--{MARK}",
    f"-person__password{MARK}",
    f'"{MARK}"."password"',
    f"{MARK}' OR '1'='1",
    f"{MARK}\x00",
    f"{MARK}\x1b[31m",
    f"?{MARK}",
    MARK * 500,
    f"{MARK}\u2028",
]
READS = [one for one in operations() if not one.writes]


@contextmanager
def statements() -> Iterator[list[str]]:
    """The SQL that is sent meanwhile, without its parameters."""
    sent: list[str] = []

    def keep(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        sent.append(sql)
        return execute(sql, params, many, context)

    with connection.execute_wrapper(keep):
        yield sent


def _reader(world: World, one: Any) -> Any:
    """Somebody who may read it: what proves the journal is for auditors."""
    return world.cast["auditor" if one.id in {"export_events", "get_seal"} else "admin"]


@pytest.mark.parametrize("one", READS, ids=lambda one: one.id)
def test_the_api_refuses_names_it_does_not_declare(world: World, one: Any, caplog: pytest.LogCaptureFixture) -> None:
    admin = _reader(world, one)
    path = one.address(world, admin)
    for name in NAMES:
        with statements() as sent:
            called = world.call(admin, "GET", f"{path}?{quote(name)}=1")
        assert called.outcome == 422, f"{path}?{name!r}: {called.outcome}"
        assert json.loads(called.response.content)["errors"]
        assert MARK not in "".join(sent)
    assert "SELECT" not in caplog.text
    assert "psycopg" not in caplog.text


@pytest.mark.parametrize("one", [one for one in READS if one.query], ids=lambda one: one.id)
def test_the_api_never_puts_a_value_into_a_statement(world: World, one: Any, caplog: pytest.LogCaptureFixture) -> None:
    admin = _reader(world, one)
    path = one.address(world, admin)
    for name in one.query:
        for value in VALUES:
            with statements() as sent:
                called = world.call(admin, "GET", f"{path}?{name}={quote(value)}")
            assert called.outcome in {200, 422}, f"{path}?{name}={value!r}: {called.outcome}"
            if called.outcome == 200:  # words to look for, which nothing holds
                assert json.loads(called.response.content)["items"] == []
            assert MARK not in "".join(sent)
        twice = world.call(admin, "GET", f"{path}?{name}=a&{name}=b")
        assert twice.outcome == 422
    assert "SELECT" not in caplog.text


def test_no_page_lets_a_parameter_into_a_statement(world: World, caplog: pytest.LogCaptureFixture) -> None:
    wrong = []
    for route in {route.name: route for route in reversed(routes())}.values():
        if "GET" not in URLS[entry_of(route.name) or route.name] or route.name.startswith("api:"):
            continue
        member = world.cast["staff" if route.pattern.startswith("admin/") else "admin"]
        plain = partial(address, world, route, "here", member)
        hostile = "&".join(f"{quote(name)}={quote(VALUES[0])}" for name in NAMES)
        pairs = zip(("sort", "o", "q", "before", "cursor"), VALUES, strict=False)
        known = "&".join(f"{name}={quote(value)}" for name, value in pairs)
        for query in (hostile, known):
            with statements() as sent:
                called = world.call(member, "GET", lambda plain=plain, query=query: f"{plain()}?{query}")
            if called.outcome == 500 or MARK in "".join(sent):
                wrong.append(f"{called.path}: {called.outcome}")
    assert not wrong, "\n".join(wrong)
    assert "SELECT" not in caplog.text
