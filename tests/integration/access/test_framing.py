"""No page of the console can be put into a frame, whoever asks and whatever the answer."""

from functools import partial

import pytest

from tests.integration.access.routes import routes
from tests.integration.access.table import URLS, entry_of
from tests.integration.access.test_matrix import address
from tests.integration.access.world import Called, World

pytestmark = pytest.mark.django_db


def framable(called: Called) -> str:
    """Why this answer could be framed, or nothing."""
    policy = called.response.get("Content-Security-Policy", "")
    directives = [directive.strip() for directive in policy.split(";")]
    if "frame-ancestors 'none'" not in directives:
        return f"policy {policy!r}"
    return "" if called.response.get("X-Frame-Options") == "DENY" else "no X-Frame-Options"


@pytest.mark.parametrize("who", ["anonymous", "admin", "staff"])
def test_no_answer_can_be_framed(world: World, who: str) -> None:
    member, wrong = world.cast[who], []
    for route in {route.name: route for route in reversed(routes())}.values():
        for method in URLS[entry_of(route.name) or route.name]:
            if method == "path":
                continue
            called = world.call(member, method, partial(address, world, route, "here", member))
            if reason := framable(called):
                wrong.append(f"{method} {called.path} ({called.outcome}): {reason}")
    assert not wrong, "\n".join(wrong)


def test_answers_to_no_address_cannot_be_framed(world: World) -> None:
    for path in ("/no/such/page/", "/api/v1/no/such/"):
        assert not framable(world.call(world.cast["admin"], "GET", path))
