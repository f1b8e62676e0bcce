"""Attack 32: requests that another site makes a signed-in browser send are refused before anything is read or written."""

from functools import partial

import pytest
from django.test import Client

from tests.factories.accounts import client_of
from tests.integration.access.routes import Route, routes
from tests.integration.access.table import URLS, entry_of
from tests.integration.access.test_matrix import address
from tests.integration.access.world import Called, Member, World

pytestmark = pytest.mark.django_db
TOKEN = "a" * 32
FORM, JSON, PLAIN = "application/x-www-form-urlencoded", "application/json", "text/plain"


def _writes() -> list[tuple[Route, str]]:
    found = {route.name: route for route in reversed(routes())}
    return [
        (route, method)
        for name, route in found.items()
        for method in URLS[entry_of(name) or name]
        if method in {"POST", "PUT", "PATCH", "DELETE"} and "*" not in (entry_of(name) or "")
    ]


def _browser(world: World) -> Member:
    """An admin's browser, with a CSRF cookie, in which the check is on."""
    admin = world.cast["admin"]
    client = client_of(admin.person, enforce_csrf_checks=True)
    client.cookies["pilothouse_csrf"] = TOKEN
    return Member(admin.caller, admin.person, client)


# What another site can make a browser send: with our cookies, but never with our token in a header of our own.
FORGERIES = {
    "a plain form": {"content_type": FORM, "data": b"a=1"},
    "a form from a foreign site with the right token": {
        "content_type": FORM,
        "data": f"csrfmiddlewaretoken={TOKEN}".encode(),
        "HTTP_ORIGIN": "https://evil.example",
    },
    "JSON sent as text": {"content_type": PLAIN, "data": b'{"a": 1}'},
    "JSON from a foreign site": {"content_type": JSON, "data": b"{}", "HTTP_ORIGIN": "https://evil.example"},
    "JSON from nowhere": {"content_type": JSON, "data": b"{}", "HTTP_ORIGIN": "null", "HTTP_X_CSRFTOKEN": TOKEN},
    "over TLS without a referrer": {
        "content_type": FORM,
        "data": f"csrfmiddlewaretoken={TOKEN}".encode(),
        "secure": True,
    },
    "over TLS from a look-alike": {
        "content_type": JSON,
        "data": b"{}",
        "secure": True,
        "HTTP_X_CSRFTOKEN": TOKEN,
        "HTTP_REFERER": "https://testserver.evil.example/",
    },
    "a cookie tossed by a subdomain": {
        "content_type": FORM,
        "data": f"csrfmiddlewaretoken={TOKEN}".encode(),
        "HTTP_ORIGIN": "http://sub.testserver",
    },
    "another scheme": {"content_type": JSON, "data": b"{}", "HTTP_ORIGIN": "https://testserver", "HTTP_X_CSRFTOKEN": TOKEN},
}


# An admin of a site with real machines may not do these at all, so that a 403 says nothing of where they come from.
BY_OTHERS = {
    ("DELETE", "api:stop_clear"),
    ("POST", "api:stop_clears"),
    ("POST", "api:robot_reset"),
    ("DELETE", "api:robot_fault"),
}


@pytest.mark.parametrize("forgery", FORGERIES)
def test_forged_writes_are_refused_everywhere(world: World, forgery: str) -> None:
    browser, wrong = _browser(world), []
    for route, method in _writes():
        called = world.call(browser, method, partial(address, world, route, "here", browser), **FORGERIES[forgery])
        if called.outcome != 403 or called.written:
            wrong.append(f"{method} {called.path}: {called.outcome}, {called.written} rows written")
    assert not wrong, "\n".join(wrong)


def test_the_console_s_own_requests_pass(world: World) -> None:
    """The other side of the test above: with origin and token the same writes are read."""
    browser, wrong = _browser(world), []
    for route, method in _writes():
        if not route.name.startswith("api:"):
            continue
        if (method, route.name) in BY_OTHERS:
            continue
        called = _ours(world, browser, route, method)
        if called.outcome == 403:
            wrong.append((method, route.name))
    assert wrong == []


def _ours(world: World, browser: Member, route: Route, method: str) -> Called:
    path = partial(address, world, route, "here", browser)
    return world.call(browser, method, path, data=b"{}", HTTP_ORIGIN="http://testserver", HTTP_X_CSRFTOKEN=TOKEN)


def test_a_token_of_a_program_needs_no_cookie_and_a_cookie_does_not_help_it(world: World) -> None:
    viewer = world.cast["viewer_token"]
    strict = Member(viewer.caller, viewer.person, Client(enforce_csrf_checks=True), viewer.headers)
    assert world.call(strict, "POST", "/api/v1/sites/").outcome == 403  # by right, after the token was read
    assert world.call(strict, "GET", "/api/v1/me/").outcome == 200
    wrong = Member(viewer.caller, viewer.person, client_of(viewer.person), {"Authorization": "Bearer pht_" + "0" * 61})
    assert world.call(wrong, "GET", "/api/v1/me/").outcome == 401
