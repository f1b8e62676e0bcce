import uuid
from datetime import UTC, datetime

import pytest

from tests.factories.telemetry import BEGAN_MS, describe_subject, record

pytestmark = pytest.mark.django_db


@pytest.fixture
def layout(site):
    layout = describe_subject(site, uuid.uuid4())
    record(layout, [[number, None] for number in range(20)])
    return layout


def iso(ms):
    return datetime.fromtimestamp(ms / 1000, UTC).isoformat()


def ask(client, site, layout, **given):
    return client.get(f"/api/v1/sites/{site.slug}/subjects/robot/{layout.subject.id}/series/", given)


def test_a_chart_over_the_api(client_of, viewer, site, layout):
    given = {"since": iso(BEGAN_MS), "until": iso(BEGAN_MS + 2000), "channels": "joint,grip", "pixels": "2"}
    found = ask(client_of(viewer), site, layout, **given).json()
    assert (found["since_ms"], found["pixel_ms"], found["count"]) == (BEGAN_MS, 1000, [10, 10])
    joint, grip = found["channels"]
    assert (joint["name"], joint["lowest"], joint["highest"], joint["mean"]) == ("joint", [0.0, 10.0], [9.0, 19.0], [4.5, 14.5])
    assert grip["mean"] == [None, None]
    assert found["gaps"] == []


def test_without_parameters_it_is_the_last_ten_minutes(client_of, viewer, site, layout):
    found = ask(client_of(viewer), site, layout).json()
    assert found["until_ms"] - found["since_ms"] == 600_000
    assert [channel["name"] for channel in found["channels"]] == ["joint", "grip"]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("since", "yesterday"),
        ("since", "0001-01-01T00:00:00Z"),
        ("until", "0001-01-01T00:00:00Z"),
        ("pixels", "-1"),
        ("pixels", "2001"),
        ("pixels", "0"),
        ("channels", "no-such"),
        ("channels", ",".join(f"c{number}" for number in range(900))),
        ("cursor", "x"),
    ],
)
def test_a_wrong_parameter_is_named(client_of, viewer, site, layout, name, value):
    answer = ask(client_of(viewer), site, layout, **{name: value})
    assert answer.status_code == 422
    assert answer.json()["errors"]


def test_a_subject_of_another_site_is_not_there(client_of, outsider, other_site, layout):
    assert ask(client_of(outsider), other_site, layout).status_code == 404
