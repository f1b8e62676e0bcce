"""Generated requests against the real ASGI application: its answers are those its schema describes, whoever asks."""

from typing import Any

import pytest
import schemathesis
from django.test import Client
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis.checks import CHECKS

from apps.kernel.types import Role
from tests.factories.accounts import client_of, grant, make_person, make_site
from tests.factories.everything import one_of_each

CHECKED = (
    "not_a_server_error",
    "status_code_conformance",
    "content_type_conformance",
    "response_schema_conformance",
    "response_headers_conformance",
)
EXAMPLES = 8  # for each operation and caller; seeds are fixed


def _callers() -> dict[str, dict[str, str]]:
    """Headers of each caller: a token of each role, a browser with every right, a stranger."""
    from tests.integration.access.world import bearer

    site = make_site("hall-a", name="Hall A")
    member = grant(make_person("Member"), site, Role.VIEWER)
    one_of_each(site, member)
    found: dict[str, dict[str, str]] = {"nobody": {}}
    for role in Role:
        person = grant(make_person(role.label.capitalize()), site, role)
        found[role.value] = {"Authorization": bearer(person, site, role)}
    browser: Client = client_of(grant(make_person("Manager"), site, *Role))
    token = "a" * 32
    cookies = f"pilothouse_session={browser.cookies['pilothouse_session'].value}; pilothouse_csrf={token}"
    found["manager at a browser"] = {"Cookie": cookies, "X-CSRFToken": token, "Origin": "http://testserver"}
    return found


@pytest.mark.timeout(240)
@pytest.mark.django_db(transaction=True)
def test_answers_are_those_of_the_schema() -> None:
    from console.asgi import application

    callers = _callers()
    schema = schemathesis.openapi.from_asgi("/api/v1/schema/?format=json", application)
    checks = CHECKS.get_by_names(list(CHECKED))
    tried: set[str] = set()
    for result in schema.get_all_operations():
        operation = result.ok()
        names = sorted(callers) if operation.method == "get" else ["manager at a browser", "nobody", Role.ADMIN.value]
        for number, name in enumerate(names):
            few = EXAMPLES if name == "manager at a browser" else 2
            _try(operation, callers[name], checks, few, number)
        tried.add(f"{operation.method} {operation.path}")
    assert len(tried) >= 25


def _try(operation: Any, headers: dict[str, str], checks: Any, examples: int, number: int) -> None:
    @settings(
        max_examples=examples,
        derandomize=True,
        database=None,
        deadline=None,
        phases=[Phase.explicit, Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(case=operation.as_strategy())
    def run(case: Any) -> None:
        if case.path_parameters and "site_slug" in case.path_parameters and number % 2 == 0:
            case.path_parameters["site_slug"] = "hall-a"
        response = case.call(headers=headers)
        case.validate_response(response, checks=checks)

    run()
