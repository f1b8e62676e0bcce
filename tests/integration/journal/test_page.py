"""The journal page: filters, links to subjects, how it is kept, and the export."""

import json

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from apps.accounts.services import change_site_settings
from apps.journal import selectors
from apps.journal.services import SealFolder, catch_up, record_verification, verify_journal
from apps.kernel import clock
from apps.kernel.types import system_actor
from tests.integration.journal.tampering import check

pytestmark = pytest.mark.django_db


def rename(site, number):
    """A fact of the site."""
    site.refresh_from_db()
    change_site_settings(
        actor=system_actor("test"), site_id=site.id, name=f"Hall {number}", time_zone="UTC", expected=site.version
    )


@pytest.fixture(autouse=True)
def _facts(site, other_site):
    """Three facts of the site, between those of another one."""
    for number in range(3):
        rename(other_site, number + 100)
        rename(site, number + 1000)
        rename(other_site, number + 200)


@pytest.fixture
def page(site, admin, auditor, client_of):
    """`page(query, by)`: the journal page of the site."""

    def get(query="", by=auditor):
        return client_of(by).get(f"/sites/{site.slug}/journal/{query}")

    return get


def kinds(answer):
    return [event.type for event in answer.context["page"].rows]


def test_narrows_by_kind_actor_subject_and_time(page, site, admin):
    every = kinds(page())
    assert every
    assert set(kinds(page("?type=accounts.site_settings_changed"))) == {"accounts.site_settings_changed"}
    assert kinds(page("?type=no.such_kind")) == []
    newest = selectors.events_of_site(site.id, most=1)[0]
    assert all(event.stream == newest.stream for event in page(f"?stream={newest.stream}").context["page"].rows)
    assert kinds(page("?since=2020-01-01T00:00&until=2999-01-01T00:00")) == every
    assert kinds(page("?until=2020-01-01T00:00")) == []
    assert kinds(page("?since=2999-01-01T00:00Z")) == []
    assert page("?since=yesterday").status_code == 422
    assert page("?nothing=1").status_code == 422
    assert "Clear filters" in page("?type=no.such_kind").content.decode()


def test_pages_by_cursor_and_follows_only_the_newest(page, site):
    for number in range(60):
        rename(site, number)
    first = page()
    assert len(kinds(first)) == 50
    assert b"data-topic" in first.content
    second = page(f"?cursor={first.context['page'].next_cursor}")
    assert kinds(second)
    assert f'data-topic="site.journal:{site.id}"'.encode() not in second.content
    seen = {event.id for answer in (first, second) for event in answer.context["page"].rows}
    assert len(seen) == len(kinds(first)) + len(kinds(second))


def test_costs_the_same_queries_for_one_fact_as_for_fifty(page, site):
    asked = []
    for number in range(50):
        with CaptureQueriesContext(connection) as queries:
            if number in (1, 2, 49):  # the first one fills what is kept for the process
                page()
        asked.append(len(queries))
        rename(site, number)
    assert asked[49] == asked[2] > 0


def test_tells_how_it_is_kept(page, tmp_path, auditor, admin):
    assert "not sealed yet" in page().content.decode()
    catch_up(seal=SealFolder(tmp_path / "seal"))
    shown = page().content.decode()
    assert "last sealed <age-text" in shown
    assert "not verified yet" in shown
    assert "Export with proofs" in shown
    assert selectors.seal_status().key in shown
    found = verify_journal(SealFolder(tmp_path / "seal"))
    record_verification(found, started_at=clock.now(), is_seal_checked=True)
    assert "everything holds" in page().content.decode()
    by_admin = page(by=admin).content.decode()
    assert "Export with proofs" not in by_admin
    assert selectors.seal_status().key not in by_admin


def test_an_export_holds_and_tells_nothing_of_other_sites(site, other_site, outsider, auditor, admin, client_of, tmp_path):
    address = f"/sites/{site.slug}/journal/export/"
    assert client_of(auditor).get(address).status_code == 409
    catch_up(seal=SealFolder(tmp_path / "seal"))
    assert client_of(admin).get(address).status_code == 403
    assert client_of(outsider).get(address).status_code == 404
    answer = client_of(auditor).get(address)
    assert answer["Content-Disposition"].startswith(f'attachment; filename="journal-{site.slug}-')
    text = b"".join(answer.streaming_content).decode()
    events = [json.loads(line)["event"] for line in text.splitlines() if line.startswith('{"event"')]
    assert {event["site_id"] for event in events} == {str(site.id)}
    assert len(events) == 3
    assert other_site.slug not in text
    assert '"Hall 100"' not in text
    assert str(other_site.id) not in text
    file = tmp_path / "export.jsonl"
    file.write_text(text)
    code, words = check(file)
    assert code == 0, words
    assert words.startswith(f"{len(events)} events")


def test_the_api_gives_seal_and_export(site, auditor, client_of, tmp_path):
    catch_up(seal=SealFolder(tmp_path / "seal"))
    client = client_of(auditor)
    seal = client.get(f"/api/v1/sites/{site.slug}/journal/seal/").json()
    assert seal["size"] == selectors.seal_status().size > 0
    export = client.get(f"/api/v1/sites/{site.slug}/journal/export/?earlier={seal['size']}")
    assert export["Content-Type"] == "application/x-ndjson"
    assert b"".join(export.streaming_content).endswith(b"}\n")
    assert client.get(f"/api/v1/sites/{site.slug}/journal/export/?earlier=x").status_code == 422
