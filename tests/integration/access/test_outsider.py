"""Attack 29: an outsider asks for one of everything of another site, by every id and name, and learns nothing."""

import json
import re
import statistics
import time
from collections.abc import Iterator
from functools import partial
from typing import Any

import pytest
from django.apps import apps
from django.contrib.admin.utils import quote

from apps.kernel.ids import new_id
from tests.factories.everything import FACTORIES
from tests.integration.access.arguments import AT_SITE, arguments_of
from tests.integration.access.routes import Route, routes
from tests.integration.access.table import URLS, entry_of
from tests.integration.access.world import Called, Member, World

pytestmark = pytest.mark.django_db
OURS = {
    model._meta.label: model
    for config in apps.get_app_configs()
    if config.name.startswith("apps.")
    for model in config.get_models()
}
# How each model is reached from outside: by this URL argument, or not at all, and why.
REACHED_BY = {
    "accounts.ApiToken": "token_id",
    "accounts.Invitation": "invitation_id",
    "accounts.MachineCredential": "credential_id",
    "accounts.Person": "person_id",
    "accounts.RoleGrant": "role",
    "accounts.Site": "site_slug",
    "alarms.Alarm": "alarm_id",
    "control.Stop": "stop_id",
    "fleet.Episode": "episode_id",
    "fleet.Order": "order_id",
    "fleet.Robot": "robot_id",
    "journal.Event": "event_id",
    "telemetry.Layout": "subject_id",
}
NOT_REACHED = {
    "accounts.Preferences": "one for each person, found by who asks",
    "accounts.SignInBudget": "counts guesses by digest, shown to nobody",
    "alarms.AlarmSubject": "only as part of its alarm",
    "alarms.Call": "counted in the load of its site, never listed",
    "control.StopPolicy": "one for each site, found by the site",
    "control.StopSubject": "only as part of its Stop",
    "fleet.BootCursor": "how far facts were taken, told to its own bridge",
    "fleet.Bridge": "only in the list of its site",
    "fleet.GatewayNode": "processes of the console, shown to nobody yet",
    "fleet.RobotReport": "only as part of its robot",
    "journal.Checkpoint": "covers every site alike, and names none",
    "journal.Cursor": "how far a reaction has come, the console's own",
    "journal.IdempotencyKey": "found by who asks and the key given",
    "telemetry.Block": "read only through the series of its subject",
    "journal.Stream": "heads of streams, told through topics",
    "journal.TailEntry": "places of events in the one order, the console's own",
    "journal.TailState": "how far the tail has come, the console's own",
    "journal.Verification": "what a walk through the whole journal found",
}


def test_every_model_has_a_factory_and_says_how_it_is_reached() -> None:
    assert set(FACTORIES) == set(OURS)
    assert set(REACHED_BY) | set(NOT_REACHED) == set(OURS)
    assert set(REACHED_BY.values()) - {"token_id"} <= set(AT_SITE)


def _naming(argument: str) -> list[Route]:
    """Routes of ours that take this argument."""
    found = {route.name: route for route in reversed(routes()) if argument in route.arguments and not _is_admin(route)}
    return list(found.values())


def _is_admin(route: Route) -> bool:
    return route.pattern.startswith("admin/")


def _methods(route: Route) -> list[str]:
    return sorted(set(URLS[entry_of(route.name) or route.name]) - {"path"})


@pytest.mark.parametrize("label", sorted(REACHED_BY))
def test_what_another_site_has_is_answered_as_what_does_not_exist(world: World, label: str) -> None:
    argument = REACHED_BY[label]
    reached = _naming(argument)
    assert reached, f"nothing takes {argument}"
    for route in reached:
        for method in _methods(route):
            answers = {name: _answer(world, route, method, values) for name, values in _ways(world, route, argument)}
            assert answers["at its site"] == answers["made up"]
            assert answers.get("at the asker's site") == answers.get("made up at the asker's site"), f"{method} {route.name}"


def _ways(world: World, route: Route, argument: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """The thing at its own site, the thing asked for at the outsider's site, and a thing that does not exist."""
    outsider = world.cast["outsider"]
    theirs = arguments_of(world, route, world.here, outsider, mine=False)
    yield "at its site", theirs
    if "site_slug" not in route.arguments:
        yield "made up", theirs | {argument: new_id()}
        return
    yield "made up", theirs | {"site_slug": "no-such-site"}
    if argument != "site_slug":
        made_up = "viewer" if argument == "role" else new_id()
        elsewhere = theirs | {"site_slug": world.there.site.slug}
        if argument != "role":
            yield "at the asker's site", elsewhere
            yield "made up at the asker's site", elsewhere | {argument: made_up}


def _answer(world: World, route: Route, method: str, values: dict[str, Any]) -> tuple[int | str, str]:
    called = world.call(world.cast["outsider"], method, partial(_address, route, values))
    # A form behind a button is read before anything is loaded, so an empty one is 422 whatever it names.
    allowed = {404, 422} if world.there.site.slug in called.path and method == "POST" else {404}
    assert called.outcome in allowed, f"{method} {called.path}: {called.outcome}"
    assert called.written == 0, f"{method} {called.path} wrote {called.written} rows"
    return called.outcome, _plain(called)


def _address(route: Route, values: dict[str, Any]) -> str:
    from django.urls import reverse

    return reverse(route.name, kwargs={name: quote(value) if name == "object_id" else value for name, value in values.items()})


def _body(called: Called) -> str:
    """What was answered, in whole or in parts."""
    found = called.response
    return (b"".join(found) if found.streaming else found.content).decode()


def _plain(called: Called) -> str:
    """The body without what differs between any two answers: numbers of events, the address itself, tokens."""
    text = _body(called)
    correlation = called.response["X-Correlation-Id"]
    text = text.replace(correlation, "N").replace(called.path, "P")
    text = re.sub(r"(<age-text[^>]*>)[^<]*", r"\1", text)  # how old an alarm of the asker's own is
    return re.sub(r'(name="csrfmiddlewaretoken" value|name="csrf-token" content|nonce|data-now)="[^"]*"', r"\1", text)


def _canaries(world: World) -> list[str]:
    """What an answer would hold if it told of the other site: names, addresses, ids, secrets' prefixes."""
    words = ["canary hall-a", "Hall A", "hall-a"]
    for row in world.here.objects.values():
        words += [str(getattr(row, name)) for name in ("pk", "id", "prefix", "email") if hasattr(row, name)]
    return [word for word in set(words) if len(word) > 5]


def test_nothing_an_outsider_may_read_tells_of_another_site(world: World) -> None:
    canaries = _canaries(world)
    outsider = world.cast["outsider"]
    for route in {route.name: route for route in routes() if not _is_admin(route)}.values():
        if "GET" not in _methods(route) or route.arguments & {"key", "link_text"}:
            continue
        called = world.call(outsider, "GET", partial(_own_address, world, route, outsider))
        text = _body(called)
        leaked = [word for word in canaries if word in text]
        assert not leaked, f"{called.path} tells {leaked}"


def _own_address(world: World, route: Route, member: Member) -> str:
    return _address(route, arguments_of(world, route, world.there, member, mine=True))


LISTS = ("api:member_list", "api:machine_list", "api:event_list", "api:invitation_list", "api:site_list", "api:token_list")


@pytest.mark.parametrize("name", LISTS)
def test_lists_count_only_what_is_the_caller_s(world: World, name: str) -> None:
    route = next(route for route in routes() if route.name == name)
    outsider = world.cast["outsider"]
    rows = json.loads(world.call(outsider, "GET", partial(_own_address, world, route, outsider)).response.content)["items"]
    ours = json.dumps(rows)
    assert not [word for word in _canaries(world) if word in ours]


def test_filters_find_nothing_of_another_site(world: World) -> None:
    outsider, event = world.cast["outsider"], world.here.objects["journal.Event"]
    for name, value in (("stream", event.stream), ("actor", event.actor_id or new_id()), ("correlation", event.correlation_id)):
        if not value:
            continue
        called = world.call(outsider, "GET", f"/api/v1/sites/{world.there.site.slug}/journal/?{name}={value}")
        assert (called.outcome, json.loads(called.response.content)["items"]) == (200, [])
    cursor = world.here.objects["accounts.MachineCredential"].pk
    called = world.call(outsider, "GET", f"/api/v1/sites/{world.there.site.slug}/machines/?cursor={cursor}")
    assert world.here.objects["accounts.MachineCredential"].name not in called.response.content.decode()


def test_what_exists_takes_as_long_as_what_does_not(world: World) -> None:
    outsider = world.cast["outsider"]
    paths = {"exists": f"/api/v1/sites/{world.here.site.slug}/", "made up": "/api/v1/sites/no-such-site/"}
    took: dict[str, list[float]] = {name: [] for name in paths}
    for _ in range(60):
        for name, path in paths.items():
            start = time.perf_counter()
            world.call(outsider, "GET", path)
            took[name].append(time.perf_counter() - start)
    exists, made_up = (statistics.median(times) for times in took.values())
    assert abs(exists - made_up) < max(0.35 * made_up, 0.002), f"{exists * 1000:.2f} ms against {made_up * 1000:.2f} ms"
