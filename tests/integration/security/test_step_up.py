"""Attacks 34 and 28: a step-up counts real proofs only, for five minutes, and leads back to where the person was."""

import pytest

from apps.accounts import selectors
from apps.kernel.permissions import STEP_UP_LIMIT
from tests.factories.accounts import client_of, grant, make_person
from tests.integration.security.browser import PASSWORD, STEP_UP, Browser

pytestmark = pytest.mark.django_db
METHODS, OWNER, USER = "account_authentication_methods", "account_authentication_methods_user", "_auth_user_id"


def _session(*proofs, owner="a"):
    return {USER: "a", OWNER: owner, METHODS: list(proofs)}


@pytest.mark.parametrize(
    "proof",
    [
        {"method": "password_reset", "at": 5.0},
        {"method": "socialaccount", "at": 5.0},
        {"method": "code", "at": 5.0, "email": "x"},
        {"method": "mfa", "type": "recovery_codes", "at": 5.0},
        {"method": "mfa", "at": 5.0},
        {"at": 5.0},
    ],
)
def test_what_is_no_proof(proof):
    """Attack 34: a reset link, a mailed code or a paper code proves nobody."""
    assert selectors.proved_at_of(_session(proof)) is None
    assert not selectors.gave_second_factor(_session(proof))


def test_a_proof_of_somebody_else_counts_for_nobody():
    assert selectors.proved_at_of(_session({"method": "password", "at": 5.0}, owner="b")) is None


@pytest.mark.parametrize(
    "proof", [{"method": "password"}, {"method": "mfa", "type": "totp"}, {"method": "mfa", "type": "webauthn"}]
)
def test_what_is_a_proof(proof):
    found = selectors.proved_at_of(_session({**proof, "at": 5.0}))
    assert found is not None
    assert found.timestamp() == 5.0


def test_the_limit_is_five_minutes():
    assert STEP_UP_LIMIT.total_seconds() == 300


def test_the_way_back(site, admin):
    """Step-up at a page returns to that page, and to no other console."""
    client = client_of(admin, proved=False)
    page = f"/sites/{site.slug}/people/"
    answer = client.post(f"{page}invite/", {"email": "x@example.test"}, headers={"Referer": f"http://testserver{page}"})
    assert answer.status_code == 302
    assert answer["Location"] == f"{STEP_UP}?next=%2Fsites%2F{site.slug}%2Fpeople%2F"
    assert client.post(answer["Location"], {"password": PASSWORD})["Location"] == page
    evil = client.post(f"{STEP_UP}?next=https://evil.example/", {"password": PASSWORD})
    assert "evil.example" not in evil["Location"]


def test_a_step_up_wears_off(site):
    from apps.kernel.types import Role

    person = grant(make_person("Admin"), site, Role.ADMIN)
    browser = Browser()
    browser.sign_in(person.email)
    session = browser.session
    session[METHODS] = [{**proof, "at": proof["at"] - 301} for proof in session[METHODS]]
    session.save()
    answer = browser.post(f"/sites/{site.slug}/people/invite/", {"email": "x@example.test"})
    assert answer.status_code == 302
    assert answer["Location"].startswith(STEP_UP)
