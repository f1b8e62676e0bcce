"""What supervisors, proxies and Prometheus are told."""

import os
import subprocess
import sys
from datetime import timedelta

import pytest
from django.db import OperationalError, connection

from apps.accounts.services import create_token
from apps.journal.models import TailState
from apps.kernel import clock
from apps.kernel.types import Role
from console import probes
from tests.factories import accounts as factories
from tests.factories.everything import make_event


@pytest.mark.django_db(transaction=True)
def test_ready_when_everything_answers(client):
    response = client.get("/readyz")
    assert response.status_code == 200
    assert response.json() == {
        "status": "ready",
        "failed": [],
        "parts": {"database": "ok", "migrations": "ok", "journal": "ok", "tail": "ok", "valkey": "ok"},
    }


def test_alive_needs_no_database(client):
    client.cookies["pilothouse_session"] = "a" * 32
    response = client.get("/healthz")  # this test may not touch the database, and would fail if it did
    assert (response.status_code, response.json()) == (200, {"status": "ok"})


@pytest.mark.django_db(transaction=True)
def test_without_valkey_it_says_degraded_and_serves(client, settings):
    settings.VALKEY_URL = "redis://127.0.0.1:1"
    response = client.get("/readyz")
    assert response.status_code == 200
    assert response.json()["status"] == "degraded"
    assert response.json()["failed"] == ["valkey"]


@pytest.fixture
def no_database(transactional_db):
    """The database's address leads nowhere, for every connection opened from now on."""
    port = connection.settings_dict["PORT"]
    connection.close()
    connection.settings_dict["PORT"] = "1"
    yield
    connection.close()
    connection.settings_dict["PORT"] = port


def test_without_the_database_it_is_unavailable_and_says_what_failed(client, no_database):
    response = client.get("/readyz")
    assert response.status_code == 503
    assert response["Retry-After"] == "5"
    assert response.json()["status"] == "unavailable"
    assert response.json()["failed"] == ["database"]
    assert "127.0.0.1" not in response.content.decode()
    assert client.get("/healthz").status_code == 200


@pytest.mark.parametrize("path", ["/account/login/", "/sites/hall-a/floor/", "/"])
def test_without_the_database_pages_say_so(client, no_database, path):
    client.cookies["pilothouse_session"] = "a" * 32
    response = client.get(path)
    assert response.status_code == 503
    assert int(response["Retry-After"]) > 0
    assert response["X-Correlation-Id"] in response.content.decode()
    assert "<main" in response.content.decode()


def test_without_the_database_the_api_says_so(client, no_database):
    response = client.get("/api/v1/sites/", headers={"Authorization": "Bearer ph_0123456789"})
    assert response.status_code in {401, 503}
    response = client.get("/api/v1/sites/", headers={"Cookie": "pilothouse_session=" + "a" * 32})
    assert response.status_code == 503
    assert response.json()["correlation_id"] == response["X-Correlation-Id"]
    assert int(response["Retry-After"]) > 0


@pytest.mark.django_db(transaction=True)
def test_names_a_migration_that_is_missing():
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM django_migrations WHERE app = 'journal' RETURNING app, name, applied")
        rows = cursor.fetchall()
        try:
            assert [part.name for part in probes.database_parts() if not part.ok] == ["migrations"]
            assert probes.missing_migrations() == sorted(f"{app}.{name}" for app, name, _ in rows)
        finally:
            with connection.cursor() as again:
                again.executemany("INSERT INTO django_migrations (app, name, applied) VALUES (%s, %s, %s)", rows)


@pytest.mark.django_db(transaction=True)
def test_says_when_the_journal_is_not_protected(client):
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE journal_event DISABLE TRIGGER journal_event_insert_only")
    try:
        response = client.get("/readyz")
    finally:
        with connection.cursor() as cursor:
            cursor.execute("ALTER TABLE journal_event ENABLE TRIGGER journal_event_insert_only")
    assert response.status_code == 503
    assert response.json()["parts"]["journal"] == "the event table is not protected"


def test_metrics_are_for_this_machine(client, db):
    client.get("/healthz")
    text = client.get("/metrics").content.decode()
    assert 'pilothouse_requests_total{method="GET",route="healthz",status="200"}' in text
    assert "pilothouse_request_seconds_bucket" in text


@pytest.mark.django_db
@pytest.mark.parametrize(
    "extra",
    [
        {"REMOTE_ADDR": "192.0.2.7"},
        {"HTTP_X_FORWARDED_FOR": "192.0.2.7"},
        {"HTTP_FORWARDED": "for=192.0.2.7"},
        {"REMOTE_ADDR": ""},
    ],
)
def test_metrics_are_hidden_from_others(client, extra):
    assert client.get("/metrics", **extra).status_code == 404


@pytest.mark.django_db
def test_refusals_are_counted_by_route_and_reason(client):
    client.get("/api/v1/nothing-of-the-kind/")
    client.get("/metrics", REMOTE_ADDR="192.0.2.7")
    assert 'pilothouse_refusals_total{code="not_found",route="metrics"}' in client.get("/metrics").content.decode()


@pytest.mark.django_db
def test_metrics_hold_no_addresses_and_no_secrets(client, site, settings):
    client.get(f"/sites/{site.slug}/floor/?token=very-secret", headers={"X-Forwarded-For": "198.51.100.9"})
    text = client.get("/metrics").content.decode()
    for word in ("very-secret", site.slug, "198.51.100.9", settings.SECRET_KEY):
        assert word not in text


@pytest.mark.parametrize(("role", "status"), [(Role.ADMIN, 200), (Role.AUDITOR, 200), (Role.VIEWER, 403)])
@pytest.mark.django_db
def test_a_token_reads_metrics_from_elsewhere(client, site, role, status):
    person = factories.grant(factories.make_person(), site, role)
    made = create_token(actor=factories.actor_of(person), person_id=person.id, site_id=site.id, role=role, name="Prometheus")
    response = client.get("/metrics", REMOTE_ADDR="192.0.2.7", headers={"Authorization": f"Bearer {made.text}"})
    assert response.status_code == status


@pytest.mark.django_db
@pytest.mark.parametrize(("method", "path"), [("post", "/me/preferences/"), ("get", "/account/login/")])
def test_a_database_that_fails_outside_a_view_is_503_too(viewer, monkeypatch, method, path):
    """A session is saved after the view, by a middleware, where nothing of ours catches the error."""

    def fail(*_args, **_named):
        raise OperationalError("the connection is closed")

    browser = factories.client_of(viewer)
    browser.raise_request_exception = False
    monkeypatch.setattr("django.contrib.sessions.middleware.SessionMiddleware.process_response", fail)
    response = getattr(browser, method)(path, {"theme": "dark"})
    assert (response.status_code, response["Retry-After"]) == (503, "5")
    assert b"Look whether it was done" in response.content
    assert "frame-ancestors 'none'" in response["Content-Security-Policy"]


@pytest.mark.django_db
def test_a_fault_outside_a_view_stays_500(client, monkeypatch):
    def fail(*_args, **_named):
        raise KeyError("ours")

    client.raise_request_exception = False
    monkeypatch.setattr("django.contrib.sessions.middleware.SessionMiddleware.process_response", fail)
    assert client.get("/account/login/").status_code == 500


@pytest.mark.django_db
def test_postgres_logs_no_statements():
    """Keys of sessions stand in statements as text, and who has one of those is signed in."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT current_setting('log_min_duration_statement'), current_setting('log_min_error_statement')")
        assert cursor.fetchone() == ("-1", "panic")
        cursor.execute("SELECT current_setting('log_statement'), current_setting('log_duration')")
        assert cursor.fetchone() == ("none", "off")


_FIGURES = """
import os
import django
django.setup()
from console import metrics
def write():
    metrics.REQUESTS.labels("GET", "any", "200").inc()
    metrics.SECONDS.labels("any").observe(1)
    metrics.POOL.labels("idle").set(1)
write()
child = os.fork()
if child == 0:
    write()
    os._exit(0)
os.waitpid(child, 0)
"""


def test_figures_have_their_space_before_a_disk_fills_up(tmp_path):
    """Written through memory into a file with holes, they kill the process (SIGBUS) once the disk is full."""
    run = {**os.environ, "PROMETHEUS_MULTIPROC_DIR": str(tmp_path)}
    subprocess.run([sys.executable, "-c", _FIGURES], env=run, check=True, timeout=60)
    files = list(tmp_path.iterdir())
    assert len(files) == 6
    assert [file.name for file in files if file.stat().st_blocks * 512 < file.stat().st_size] == []


@pytest.mark.django_db(transaction=True)
def test_a_tail_that_stands_still_is_told_and_stops_nothing(client):
    make_event(factories.make_site(), factories.make_person())
    TailState.objects.create(caught_up_at=clock.now() - timedelta(minutes=1))
    response = client.get("/readyz")
    assert response.status_code == 200
    assert response.json()["failed"] == ["tail"]


def _full(*_given, **_named):
    """What PostgreSQL says where it cannot make a file longer."""
    with connection.cursor() as cursor:
        cursor.execute("DO $$ BEGIN RAISE EXCEPTION 'could not extend file' USING ERRCODE = 'disk_full'; END $$")


@pytest.mark.django_db
@pytest.mark.parametrize("path", ["/api/v1/sites/hall-a/robots/", "/sites/hall-a/robots/new/"])
def test_a_write_that_the_disk_does_not_take_is_refused_and_says_why(site, admin, monkeypatch, path):
    """Attack 9: at the API and on a page."""
    monkeypatch.setattr("apps.fleet.projections.apply_payloads", _full)
    browser = factories.client_of(admin)
    browser.raise_request_exception = False
    body = {"name": "arm-77", "kind": "arm"}
    kind = {"content_type": "application/json"} if path.startswith("/api/") else {}
    response = browser.post(path, body, **kind)
    assert (response.status_code, response["Retry-After"]) == (503, "30")
    assert b"The disk of the database is full. Nothing was changed." in response.content
