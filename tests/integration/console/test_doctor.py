"""`manage.py doctor` tells what is well and what to do next, whatever is down."""

import io
import json
import uuid

import pytest
from django.core.management import call_command
from django.db import connection

from apps.kernel import clock
from console import env
from tests.factories.accounts import make_site
from tests.factories.telemetry import BEGAN_MS, describe_subject, record


def doctor(*words):
    out = io.StringIO()
    code = 0
    try:
        call_command("doctor", *words, stdout=out)
    except SystemExit as ended:
        code = ended.code
    return code, out.getvalue()


@pytest.fixture
def down(transactional_db, settings):
    """Neither engine can be reached."""
    port = connection.settings_dict["PORT"]
    connection.close()
    connection.settings_dict["PORT"] = "1"
    settings.VALKEY_URL = "redis://127.0.0.1:1"
    yield
    connection.close()
    connection.settings_dict["PORT"] = port


@pytest.fixture
def alone(monkeypatch):
    """Other workers of this run share the server and may have long transactions open; those are none of this test's."""
    monkeypatch.setattr("console.diagnosis.TRANSACTION_LIMIT_S", 600)


@pytest.mark.django_db(transaction=True)
def test_all_is_well(alone):
    code, text = doctor("--json")
    found = json.loads(text)
    assert (code, found["ok"], found["next_step"]) == (0, True, "Nothing: all is well.")
    assert found["pools"]["most the processes may open"]["value"] <= found["pools"]["max_connections"]
    assert found["versions"]["postgresql"].startswith("18")
    assert abs(found["clock"]["database ahead by, s"]["value"]) < 1
    assert set(found["services"]) == {"database", "migrations", "journal", "tail", "valkey"}


def test_works_with_everything_down(down):
    code, text = doctor("--json")
    found = json.loads(text)
    assert (code, found["ok"]) == (1, False)
    assert found["next_step"].startswith("Start the console with `manage.py up --data ")
    assert found["services"] == {
        "database": {"value": "does not answer", "ok": False},
        "valkey": {"value": "does not answer", "ok": False},
    }
    code, text = doctor()
    assert code == 1
    assert "NOT WELL" in text and text.rstrip().splitlines()[-1].startswith("next step: Start")


@pytest.mark.django_db(transaction=True)
def test_only_valkey_down_is_no_failure(settings):
    settings.VALKEY_URL = "redis://127.0.0.1:1"
    code, text = doctor("--json")
    assert code == 0
    assert "VALKEY_URL" in json.loads(text)["next_step"]


@pytest.mark.django_db(transaction=True)
def test_shows_no_secret():
    for words in ((), ("--json",)):
        _, text = doctor(*words)
        for variable in env.VARIABLES:
            if variable.secret and env.read(variable.name):
                assert env.read(variable.name) not in text
            assert env.PREFIX + variable.name in text


@pytest.mark.django_db(transaction=True)
def test_tells_what_samples_take_and_that_they_are_not_forgotten():
    record(describe_subject(make_site("hall-a"), uuid.uuid4()), [[1.0, 1.0]])
    _, text = doctor("--json")
    found = json.loads(text)["disk"]
    kept_days = (clock.now().timestamp() - BEGAN_MS / 1000) / 86400
    assert found["oldest sample, days"]["value"] == pytest.approx(kept_days, abs=0.2)
    assert found["oldest sample, days"]["ok"] is (kept_days < 8)
    assert found["stored samples, MB"] == 0
