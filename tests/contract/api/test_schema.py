"""The schema of the API is clean and changes only on purpose."""

from io import StringIO
from pathlib import Path

import pytest
from django.core.management import call_command
from django.test import Client

SNAPSHOT = Path(__file__).parent / "openapi.yaml"


def test_the_schema_is_the_one_in_the_tree() -> None:
    """After a wanted change: `manage.py spectacular --fail-on-warn --file tests/contract/api/openapi.yaml`."""
    out = StringIO()
    call_command("spectacular", "--fail-on-warn", "--validate", stdout=out)
    assert out.getvalue().strip() == SNAPSHOT.read_text().strip()


@pytest.mark.parametrize(
    ("query", "kind"), [("", "application/vnd.oai.openapi"), ("?format=json", "application/vnd.oai.openapi+json")]
)
def test_the_schema_is_served_to_anybody(query: str, kind: str) -> None:
    response = Client().get(f"/api/v1/schema/{query}")
    assert response.status_code == 200
    assert response["Content-Type"].startswith(kind)


def test_the_schema_names_both_ways_to_sign_in() -> None:
    found = Client().get("/api/v1/schema/?format=json").json()
    assert set(found["components"]["securitySchemes"]) == {"session", "csrf", "token"}
    for path, methods in found["paths"].items():
        for method, operation in methods.items():
            wanted = [{"token": []}, {"session": []} if method == "get" else {"session": [], "csrf": []}]
            assert operation["security"] == wanted, f"{method} {path}"
            assert {"401", "403", "422", "429", "503"} <= set(operation["responses"]), f"{method} {path}"
