"""Replay makes the tables again from the facts, finds what differs, and touches nothing live."""

import pytest
from django.db import DatabaseError

from apps.accounts import services
from apps.accounts.models import Person, Site
from apps.journal.models import Event
from apps.journal.services import replay, replaying
from apps.kernel.types import Role, system_actor

CONSOLE = system_actor("test")


@pytest.fixture
def peopled(db):
    site = services.create_site(actor=CONSOLE, slug="hall", name="Hall")
    person = services.create_person(actor=CONSOLE, email="a@example.test", name="A", password="a long word of thought")
    services.grant_role(actor=CONSOLE, site_id=site.id, person_id=person.id, role=Role.ADMIN)
    return site, person


def differing():
    return [one for one in replay(names={"accounts"}) if not one.holds]


def test_what_follows_from_the_facts_holds(peopled):
    found = {one.table: one for one in replay(names={"accounts"})}
    assert all(one.holds for one in found.values())
    assert found["accounts_person"].rows == found["accounts_person"].replayed_rows == 1
    assert len(found["accounts_person"].digest) == 64
    assert found["accounts_site"].digest != found["accounts_person"].digest
    assert Person.objects.count() == Site.objects.count() == 1


def test_a_row_changed_by_hand_is_shown(peopled):
    Site.objects.update(name="Another")
    [site] = differing()
    assert (site.table, site.rows, site.replayed_rows) == ("accounts_site", 1, 1)
    assert '"name": "Hall"' in site.missing[0]
    assert '"name": "Another"' in site.extra[0]


def test_a_row_too_many_or_missing_is_shown(peopled):
    Person.objects.create(email="b@example.test", name="B")
    [person] = differing()
    assert (person.rows, person.replayed_rows, person.missing) == (2, 1, ())
    Person.objects.filter(email="b@example.test").delete()
    peopled[1].refresh_from_db()
    assert differing() == []


def test_what_is_no_fact_is_not_compared(peopled):
    Person.objects.update(password="other")
    assert differing() == []


def test_a_projection_that_writes_elsewhere_is_stopped(peopled, monkeypatch):
    def writes_elsewhere(_event):
        Event.objects.filter(stream="test").update(stream="test.other")

    stray = replaying.Projection("stray", {"accounts_site": frozenset()}, writes_elsewhere)
    monkeypatch.setattr(replaying, "_PROJECTIONS", {"stray": stray})
    with pytest.raises(DatabaseError, match="read-only transaction"):
        replay()
    assert Site.objects.get().name == "Hall"


def test_a_table_belongs_to_one_projection():
    with pytest.raises(ValueError, match="of another one"):
        replaying.projection("thief", ["accounts_site"], print)
