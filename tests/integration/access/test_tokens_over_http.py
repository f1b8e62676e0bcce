"""Personal tokens at the API's door: what is stolen, old, foreign or in the wrong place opens nothing."""

import json

import pytest
from django.db import OperationalError
from django.test import Client

from apps.accounts.models import ApiToken, Person, RoleGrant
from apps.kernel.types import Role
from tests.integration.access.world import bearer

pytestmark = pytest.mark.django_db
ME = "/api/v1/me/"


def _get(words: str, path: str = ME):
    return Client().get(path, headers={"Authorization": words})


def test_a_token_lets_its_person_in_and_names_itself(site, admin) -> None:
    answer = _get(bearer(admin, site, Role.ADMIN))
    assert answer.status_code == 200
    assert answer.json()["kind"] == "token"
    assert [one["slug"] for one in answer.json()["sites"]] == [site.slug]


def test_what_a_database_dump_holds_opens_nothing(site, admin) -> None:
    bearer(admin, site, Role.ADMIN)
    row = ApiToken.objects.get()
    digest = bytes(row.digest).hex()
    for text in (row.prefix, digest, f"pht_{row.prefix}_{digest[:48]}", f"pht_{row.prefix}_{digest}", str(row.pk)):
        assert _get(f"Bearer {text}").status_code == 401


@pytest.mark.parametrize("words", ["", "Bearer", "Bearer ", "Basic YTpi", "Token x", "Bearer \x00", "bearer pht_" + "x" * 5000])
def test_what_is_no_token_is_refused(words: str) -> None:
    answer = _get(words)
    assert answer.status_code == 401
    assert answer["WWW-Authenticate"].startswith("Bearer")
    assert answer["Content-Type"] == "application/problem+json"


def test_a_token_in_the_address_is_refused_even_beside_a_right_one(site, admin) -> None:
    words = bearer(admin, site, Role.ADMIN)
    text = words.removeprefix("Bearer ")
    for path in (f"{ME}?token={text}", f"{ME}?x={text.replace('_', '%5F')}", f"/api/v1/sites/{text}/"):
        for given in ("", words):
            answer = _get(given, path) if given else Client().get(path)
            assert answer.status_code in {401, 404}, path
            assert text not in answer.content.decode()
            assert "sites" not in json.loads(answer.content)


def test_a_token_ends_with_its_role_and_its_person(site, admin, viewer) -> None:
    path, words = f"/api/v1/sites/{site.slug}/people/", bearer(admin, site, Role.ADMIN)
    assert _get(words, path).status_code == 200
    RoleGrant.objects.filter(person=admin).delete()
    assert _get(words, path).status_code == 404
    Person.objects.filter(id=admin.id).update(is_active=False)
    assert _get(words, path).status_code == 401


def test_a_token_never_does_what_needs_a_person(site, admin) -> None:
    words = {"Authorization": bearer(admin, site, Role.ADMIN)}
    for path in (f"/api/v1/sites/{site.slug}/machines/", f"/api/v1/sites/{site.slug}/invitations/", "/api/v1/me/tokens/"):
        assert Client().post(path, "{}", "application/json", headers=words).status_code == 403


def test_a_database_that_does_not_answer_is_503_with_when_to_come_back(site, admin, monkeypatch) -> None:
    from apps.accounts import selectors

    def gone(*_asked: object) -> None:
        raise OperationalError("connection refused by 10.1.2.3")

    words = bearer(admin, site, Role.ADMIN)
    monkeypatch.setattr(selectors, "sites_of", gone)
    answer = _get(words)
    assert (answer.status_code, answer["Retry-After"]) == (503, "5")
    assert answer.json()["code"] == "unavailable"
    assert "10.1.2.3" not in answer.content.decode()
