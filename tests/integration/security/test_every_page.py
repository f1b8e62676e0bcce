"""Attack 42 and the content policy, on every address the resolver knows, as several people."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
from django.conf import settings
from django.db import transaction

from tests.integration.access.routes import Route, routes
from tests.integration.access.test_matrix import address
from tests.integration.access.world import World, build

CAST = {"GET": ("anonymous", "admin", "staff", "admin_token"), "POST": ("outsider", "admin")}
# What the policy would block, so that a page that needs it would be broken: scripts and styles in the page itself.
INLINE = {
    "a script in the page": re.compile(r"<script(?![^>]*\bsrc=)(?![^>]*type=\"(?:application/json|importmap)\")[^>]*>", re.I),
    "a style in the page": re.compile(r"<style\b", re.I),
    "a style attribute": re.compile(r"<[a-z][^>]*\sstyle=", re.I),
    "a handler attribute": re.compile(r"<[a-z][^>]*\son[a-z]+=", re.I),
    "a script address": re.compile(r"(?:href|src|action)=[\"']?\s*javascript:", re.I),
    "a script of another origin": re.compile(r"<script[^>]*\bsrc=[\"'](?!/|http://testserver/)", re.I),
}


@pytest.fixture(scope="module")
def world(django_db_setup: None, django_db_blocker: Any) -> Iterator[World]:
    with django_db_blocker.unblock(), transaction.atomic():
        yield build()
        transaction.set_rollback(True)


def _chosen() -> list[Route]:
    """Every address, but of the admin site one table for each kind of page."""
    kinds: dict[str, Route] = {}
    for route in routes():
        kind = re.sub(r"^admin:[a-z]+_[a-z]+_", "admin:table_", route.name)
        if not route.name.startswith("path:"):
            kinds.setdefault(kind, route)
    return list(kinds.values())


def _answers(world: World) -> Iterator[tuple[str, Any]]:
    for route in _chosen():
        for method, cast in CAST.items():
            for name in cast:
                member = world.cast[name]
                called = world.call(member, method, lambda: address(world, route, "here", member))  # noqa: B023
                yield f"{method} {called.path} as {name}: {called.response.status_code}", called.response


@pytest.fixture(scope="module")
def answers(world: World, django_db_blocker: Any) -> list[tuple[str, Any]]:
    with django_db_blocker.unblock():
        return list(_answers(world))


@pytest.mark.django_db
def test_no_shared_cache_may_keep_any_page(answers):
    """Attack 42: private and no-store on every answer of every address, refusals and redirects included."""
    wrong = []
    for name, answer in answers:
        words = {word.strip() for word in answer.get("Cache-Control", "").split(",")}
        if not {"private", "no-store"} <= words or "public" in words or any(word.startswith("s-maxage") for word in words):
            wrong.append(f"{name}: {answer.get('Cache-Control')!r}")
    assert len(answers) > 250
    assert not wrong, "\n".join(wrong[:20])


@pytest.mark.django_db
def test_every_page_has_the_policy_and_obeys_it(answers):
    """The policy has no way out for scripts or styles in a page, and no page needs one: ours, the library's, the admin's.

    One named exception: the map of imports, which browsers take from the page only, and only with this answer's nonce.
    """
    wrong = []
    for name, answer in answers:
        policy = answer.get("Content-Security-Policy", "")
        if not answer.get("Content-Type", "").startswith("text/html"):
            continue
        if "unsafe" in policy or "default-src 'none'" not in policy or "frame-ancestors 'none'" not in policy:
            wrong.append(f"{name}: {policy!r}")
        if answer.get("X-Content-Type-Options") != "nosniff":
            wrong.append(f"{name}: may be sniffed")
        text = answer.content.decode()
        maps = re.findall(r"<script type=\"importmap\" nonce=\"([^\"]+)\">", text)
        if text.count("importmap") and [f"'nonce-{nonce}'" in policy for nonce in maps] != [True]:
            wrong.append(f"{name}: a map of imports without the nonce of its answer")
        wrong += [f"{name}: {what}: {found[0]}" for what, pattern in INLINE.items() if (found := pattern.search(text))]
    assert not wrong, "\n".join(wrong[:20])


@pytest.mark.django_db
def test_static_files_are_public(client):
    answer = client.get(f"{settings.STATIC_URL}css/tokens.css")
    assert answer.status_code == 200
    assert "public" in answer["Cache-Control"]
    missing = client.get(f"{settings.STATIC_URL}nothing.css")
    assert missing.status_code == 404
    assert "no-store" in missing["Cache-Control"]
