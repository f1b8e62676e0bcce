"""An error page keeps the way of whoever is signed in, and says nothing of a site they do not know."""

import pytest
from django.db import OperationalError

from apps.shell import selectors

pytestmark = pytest.mark.django_db
RAIL = 'class="rail"'


def test_somebody_signed_in_keeps_the_navigation(site, viewer, client_of):
    for path, status in ((f"/sites/{site.slug}/nothing/", 404), (f"/sites/{site.slug}/journal/", 403)):
        answer = client_of(viewer).get(path)
        page = answer.content.decode()
        assert answer.status_code == status
        assert RAIL in page and site.name in page and page.count("<h1>") == 1


def test_nothing_of_a_site_that_is_not_theirs(site, other_site, outsider, client_of):
    page = client_of(outsider).get(f"/sites/{site.slug}/floor/").content.decode()
    assert RAIL in page and other_site.name in page
    assert site.name not in page


def test_nobody_signed_in_gets_no_navigation(client):
    page = client.get("/no/such/page/").content.decode()
    assert RAIL not in page and "Nothing here, or not for you" in page


def test_without_a_database_the_page_still_comes(viewer, client_of, monkeypatch):
    def gone(_request):
        raise OperationalError

    monkeypatch.setattr(selectors, "frame", gone)
    answer = client_of(viewer).get("/no/such/page/")
    assert answer.status_code == 404 and RAIL not in answer.content.decode()
