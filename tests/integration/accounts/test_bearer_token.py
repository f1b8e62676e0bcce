"""A token taken, misused or out of its reach (adversarial test 36), over the real API."""

import pytest
from django.test import Client

from apps.accounts.models import ApiToken, Person
from apps.accounts.services import create_machine_credential, create_token, deactivate_person, revoke_role, revoke_token
from apps.kernel import clock
from apps.kernel.types import Role, system_actor
from tests.factories.accounts import client_of, grant, make_person

pytestmark = pytest.mark.django_db
SITE = "/api/v1/sites/hall-a/"


@pytest.fixture
def token(site, operator, actor_of):
    return make(site, operator, Role.OPERATOR, actor_of)


def make(site, person, role, actor_of):
    made = create_token(actor=actor_of(person), person_id=person.id, site_id=site.id, role=role, name="script")
    return made.text


def ask(text, path=SITE, method="get", client=None, scheme="Bearer", **more):
    answer = getattr(client or Client(), method)(path, headers={"Authorization": f"{scheme} {text}"}, **more)
    return answer.status_code, (answer.json().get("code") if answer.status_code >= 400 else None)


def test_it_opens_what_its_role_opens(token):
    assert ask(token) == (200, None)
    assert ask(token, scheme="bearer") == (200, None)
    assert ApiToken.objects.get().last_used_at is not None


@pytest.mark.parametrize("form", ["digest", "prefix and digest", "prefix alone", "one character off", "a machine's"])
def test_what_a_dump_of_the_database_holds_opens_nothing(form, token):
    row = ApiToken.objects.get()
    digest = bytes(row.digest).hex()
    forged = {
        "digest": digest,
        "prefix and digest": f"pht_{row.prefix}_{digest[:48]}",
        "prefix alone": f"pht_{row.prefix}_" + "0" * 48,
        "one character off": token[:-1] + ("0" if token[-1] != "0" else "1"),
        "a machine's": token.replace("pht_", "phm_"),
    }[form]
    assert ask(forged) == (401, "token_unknown")


def test_wrong_scope(site, other_site, token, operator):
    grant(operator, other_site, Role.OPERATOR)
    grant(operator, site, Role.ADMIN)
    assert ask(token, "/api/v1/sites/lab-b/")[0] == 404
    assert ask(token, SITE + "people/") == (403, "not_allowed")


def test_expired(token, monkeypatch):
    late = ApiToken.objects.get().expires_at
    monkeypatch.setattr(clock, "now", lambda: late)
    assert ask(token) == (401, "token_expired")


def test_revoked(operator, token, actor_of):
    revoke_token(actor=actor_of(operator), token_id=ApiToken.objects.get().id)
    assert ask(token) == (401, "token_revoked")


def test_of_somebody_switched_off(operator, token):
    deactivate_person(actor=system_actor("test"), person_id=operator.id)
    assert ask(token) == (401, "person_inactive")


def test_of_somebody_who_lost_the_role(site, admin, operator, token, actor_of):
    revoke_role(actor=actor_of(admin), site_id=site.id, person_id=operator.id, role=Role.OPERATOR)
    assert ask(token)[0] == 404


def test_a_person_with_tokens_is_switched_off_and_never_deleted(operator, token):
    from django.db.models import ProtectedError

    with pytest.raises(ProtectedError):
        Person.objects.get(id=operator.id).delete()


@pytest.mark.parametrize("name", ["token", "access_token", "x"])
def test_in_an_address(name, operator, token):
    for client in (Client(), client_of(operator)):
        answer = client.get(f"{SITE}?{name}={token}")
        assert (answer.status_code, answer.json()["code"]) == (401, "token_in_url")
    answer = Client().get(f"{SITE}?{name}={token.replace('_', '%5F')}")
    assert (answer.status_code, answer.json()["code"]) == (401, "token_in_url")
    assert ask(token, f"{SITE}?{name}={token}") == (401, "token_in_url")


@pytest.mark.parametrize("header", ["Basic dXNlcjpwYXNz", "Bearer", "Bearer  ", "pht_x", "Token abc"])
def test_a_malformed_header_is_no_reason_to_use_the_session(header, operator):
    answer = client_of(operator).get(SITE, headers={"Authorization": header})
    assert answer.status_code == 401
    assert answer["WWW-Authenticate"].startswith("Bearer")


def test_a_machine_credential_is_no_token(site, admin, actor_of):
    made = create_machine_credential(actor=actor_of(admin), site_id=site.id, name="bridge")
    assert ask(made.text) == (401, "token_unknown")


def test_an_admins_token_changes_no_rights(site, admin, viewer, actor_of):
    text = make(site, admin, Role.ADMIN, actor_of)
    assert ask(text, SITE + "people/") == (200, None)
    body = {"email": "x@example.test", "name": "X", "roles": ["viewer"]}
    assert ask(text, SITE + "invitations/", "post", data=body, content_type="application/json")[0] == 403
    assert ask(text, f"{SITE}people/{viewer.id}/roles/approver/", "put", content_type="application/json")[0] == 403
    assert ask(text, SITE + "machines/", "post", data={"name": "b"}, content_type="application/json")[0] == 403


def test_a_token_makes_no_token(site, admin, actor_of):
    text = make(site, admin, Role.ADMIN, actor_of)
    body = {"name": "child", "site": "hall-a", "role": "admin"}
    assert ask(text, "/api/v1/me/tokens/", "post", data=body, content_type="application/json")[0] == 403
    assert ApiToken.objects.count() == 1


def test_it_opens_no_page(token):
    answer = Client().get("/sites/hall-a/floor/", headers={"Authorization": f"Bearer {token}"})
    assert answer.status_code == 302


def test_it_wins_over_a_session_beside_it(site, admin, token, actor_of):
    assert ask(token, SITE + "people/", client=client_of(admin)) == (403, "not_allowed")


def test_unknown_revoked_and_expired_cost_the_same_look_ups(site, token, django_assert_num_queries):
    from apps.accounts.selectors import verify_token
    from apps.kernel.errors import NotSignedIn

    make_person()
    for text in (token[:-1] + "x", "pht_000000000000_" + "0" * 48, "nothing at all", ""):
        with django_assert_num_queries(1), pytest.raises(NotSignedIn):
            verify_token(text)
