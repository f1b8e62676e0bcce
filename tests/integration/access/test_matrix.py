"""Attack 28: every address x method x actor x site, called for real and compared with the table written by hand."""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

import pytest
from django.urls import reverse

from tests.integration.access.arguments import arguments_of, sides_of
from tests.integration.access.routes import Route, routes
from tests.integration.access.table import ROLES, URLS, Caller, Rule, entry_of, expected, rule
from tests.integration.access.world import Member, Place, World

FEW = ("anonymous", "admin", "outsider", "staff", "staff_password_only")  # for each table of the admin site
METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE")


def test_every_route_is_in_the_table_and_every_entry_has_a_route() -> None:
    entries = {route.name: entry_of(route.name) for route in routes()}
    assert [name for name, entry in entries.items() if entry is None] == []
    assert set(URLS) - set(entries.values()) == set()


def test_every_route_declares_exactly_the_methods_of_the_table() -> None:
    wrong = [
        f"{route.name} declares {route.methods}"
        for route in routes()
        if route.methods != frozenset(URLS[entry_of(route.name) or route.name]) - {"path"}
    ]
    assert wrong == []


@pytest.mark.django_db  # has the database made; the world lives in the transaction around it
@pytest.mark.parametrize("entry", URLS)
def test_calls_are_answered_as_the_table_says(world: World, entry: str) -> None:
    wrong: list[str] = []
    fitting = {route.name: route for route in reversed(routes()) if entry_of(route.name) == entry}
    for route in fitting.values():
        for method, text in URLS[entry].items():
            if method != "path":
                wrong += _wrong_calls(world, route, method, rule(text), everybody=len(fitting) == 1)
    wrong += _wrong_methods(world, next(iter(fitting.values())))
    assert not wrong, "\n".join(wrong[:12])


def _wrong_calls(world: World, route: Route, method: str, one: Rule, *, everybody: bool) -> Iterator[str]:
    """Calls of one method that are not answered as expected, by everybody, at every side."""
    for side in sides_of(route):
        for member in world.cast.values() if everybody else [world.cast[name] for name in FEW]:
            path = address(world, route, side, member)
            caller = _seen_from(world, member, side)
            allowed = expected(one, caller, api=path.startswith("/api/"), theirs=side == "theirs")
            called = world.call(member, method, path)
            line = (
                f"{method} {path} as {caller.name} ({side}): {called.outcome}, expected {' '.join(sorted(map(str, allowed)))}"
            )
            if called.outcome not in allowed:
                yield line + f" {called.response.content[:300]!r}" * (called.outcome == 500)
            elif called.written and allowed != one.allowed:
                yield f"{line}; refused, yet {called.written} rows were written"


def _wrong_methods(world: World, route: Route) -> Iterator[str]:
    """Methods outside the table are 405 for anybody, and HEAD is as GET."""
    listed = URLS[entry_of(route.name) or route.name]
    path = partial(address, world, route, "here")
    for name, methods in (("anonymous", METHODS), ("admin", ("GET", "POST", "DELETE"))):
        member = world.cast[name]
        for method in sorted(set(methods) - set(listed) - {"HEAD"}):
            called = world.call(member, method, partial(path, member))
            if called.outcome != 405 or called.written:
                yield f"{method} {called.path} as {name}: {called.outcome}, expected 405"
    if "GET" in listed:
        admin = world.cast["admin"]
        get, head = (world.call(admin, method, partial(path, admin)).outcome for method in ("GET", "HEAD"))
        if get != head:
            yield f"HEAD {route.name}: {head}, but GET {get}"


def address(world: World, route: Route, side: str, member: Member) -> str:
    """The address of a route for one caller at one side."""
    place: Place = world.there if side in {"there", "theirs"} else world.here
    values = arguments_of(world, route, place, member, mine=side == "mine")
    if path := URLS[entry_of(route.name) or route.name].get("path"):
        return path.format(**values, model=route.pattern.removesuffix("<path:object_id>/"))
    return reverse(route.name, kwargs=values)


def _seen_from(world: World, member: Member, side: str) -> Caller:
    """The caller with the roles held at the side called."""
    if side == "there":
        return replace(member.caller, roles=ROLES if member.caller.name == "outsider" else frozenset())
    return member.caller
