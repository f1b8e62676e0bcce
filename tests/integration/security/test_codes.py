"""Attack 34: codes and recovery codes hold once and may not be guessed; a factor goes only after a fresh proof."""

import time
from datetime import timedelta

import pytest
from allauth.mfa.models import Authenticator
from django.db import connection

from apps.accounts.services import budgets
from apps.journal.models import Event
from apps.kernel import clock
from tests.factories.accounts import make_person
from tests.integration.security.browser import STEP_UP_CODE, Browser, code_of

pytestmark = pytest.mark.django_db
DEACTIVATE = "/account/2fa/totp/deactivate/"


@pytest.fixture
def person():
    return make_person("Codes")


@pytest.fixture
def secret(person):
    browser = Browser()
    browser.sign_in(person.email)
    return browser.set_up_codes()


def _at_code(person, address="203.0.113.9"):
    browser = Browser(address)
    browser.sign_in(person.email)
    assert not browser.is_signed_in, "a password alone must not sign in whoever has a code generator"
    return browser


def test_a_code_signs_in_once_in_its_window(person, secret):
    """Attack 34: a code used once is refused in the same window, in another browser and after a cache flush."""
    code = code_of(secret)
    first, second = _at_code(person), _at_code(person, "203.0.113.10")
    assert first.give_code(code).status_code == 302
    assert first.is_signed_in
    second.give_code(code)
    assert not second.is_signed_in


def test_the_code_that_set_the_generator_up_does_not_sign_in(person):
    """Attack 34: reuse of the first code."""
    browser = Browser()
    browser.sign_in(person.email)
    browser.step_up()
    secret = browser.get("/account/2fa/totp/activate/").context["form"].secret
    code = code_of(secret)
    browser.post("/account/2fa/totp/activate/", {"code": code})
    other = _at_code(person)
    other.give_code(code)
    assert not other.is_signed_in


@pytest.mark.parametrize(("steps", "holds"), [(1, True), (2, False), (-2, False)])
def test_one_step_of_tolerance_and_no_more(person, secret, steps, holds):
    """Attacks 34 and 11: a code one step off holds, two steps off it does not."""
    now = clock.now().replace(second=10)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(clock, "now", lambda: now)
        browser = _at_code(person)
        browser.give_code(code_of(secret, now, steps=steps))
    assert browser.is_signed_in is holds


@pytest.mark.parametrize("hours", [1, -1])
def test_codes_of_a_clock_an_hour_off_are_refused(person, secret, hours):
    """Attacks 34 and 11: with the console's clock an hour off, true codes are refused, not tolerated."""
    true_code = code_of(secret)
    moved = clock.now() + timedelta(hours=hours)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(clock, "now", lambda: moved)
        browser = _at_code(person)
        browser.give_code(true_code)
    assert not browser.is_signed_in


def test_guessing_codes_is_limited(person, secret):
    """Attack 34: after the budget even the right code is refused for a stranger, from any address."""
    seen = []
    for number in range(budgets.CODE_BY_ACCOUNT.size + 3):
        browser = _at_code(person, f"203.0.113.{number + 20}")
        seen.append(browser.give_code("000000").status_code)
    assert seen[: budgets.CODE_BY_ACCOUNT.size] == [200] * budgets.CODE_BY_ACCOUNT.size
    assert set(seen[budgets.CODE_BY_ACCOUNT.size :]) == {429}
    late = _at_code(person, "203.0.113.99")
    assert late.give_code(code_of(secret, steps=1)).status_code == 429
    assert not late.is_signed_in


def test_a_recovery_code_signs_in_once(person, secret):
    """Attack 34: a recovery code is refused the second time."""
    codes = Authenticator.objects.get(user=person, type="recovery_codes").wrap().get_unused_codes()
    first, second = _at_code(person), _at_code(person, "203.0.113.10")
    first.give_code(codes[0])
    second.give_code(codes[0])
    assert first.is_signed_in
    assert not second.is_signed_in


def _signed_in_with_code(person, secret):
    browser = _at_code(person)
    browser.give_code(code_of(secret))
    assert browser.is_signed_in
    return browser


def _age_proofs(browser, seconds):
    session = browser.session
    session["account_authentication_methods"] = [
        {**proof, "at": proof["at"] - seconds} for proof in session["account_authentication_methods"]
    ]
    session.save()


@pytest.mark.parametrize("page", [DEACTIVATE, "/account/2fa/recovery-codes/generate/", "passkey"])
def test_factors_change_only_after_a_fresh_proof(person, secret, page):
    """Attack 34: without a proof from the last five minutes nothing of the second factor changes."""
    browser = _signed_in_with_code(person, secret)
    _age_proofs(browser, 301)
    if page == "passkey":
        row = Authenticator.objects.create(user=person, type="webauthn", data={"name": "Key", "credential": {}})
        page = f"/account/2fa/webauthn/keys/{row.pk}/remove/"
    before = list(Authenticator.objects.filter(user=person).order_by("pk").values_list("pk", "data"))
    answer = browser.post(page)
    assert answer.status_code == 302
    assert "reauthenticate" in answer["Location"]
    assert list(Authenticator.objects.filter(user=person).order_by("pk").values_list("pk", "data")) == before


def test_a_password_is_no_step_up_for_whoever_has_codes(person, secret):
    """Attack 34: step-up needs the second factor once there is one."""
    browser = _signed_in_with_code(person, secret)
    _age_proofs(browser, 301)
    answer = browser.step_up()
    assert answer.status_code == 302
    assert STEP_UP_CODE in answer["Location"]
    assert max(proof["at"] for proof in browser.session["account_authentication_methods"]) < time.time() - 300


def test_codes_go_after_a_fresh_proof_and_leave_a_fact(person, secret):
    browser = _signed_in_with_code(person, secret)
    assert browser.post(STEP_UP_CODE, {"code": code_of(secret, steps=1)}).status_code == 302
    assert browser.post(DEACTIVATE).status_code == 302
    assert not Authenticator.objects.filter(user=person).exists()
    facts = list(
        Event.objects.filter(stream=f"accounts.person:{person.pk}").order_by("sequence").values_list("type", flat=True)
    )
    assert facts == ["accounts.second_factor_added", "accounts.second_factor_removed"]


def test_the_database_holds_no_readable_secret(person, secret):
    """Attack 34: a copy of the tables makes no codes."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT data::text FROM mfa_authenticator")
        stored = " ".join(row[0] for row in cursor.fetchall())
    assert secret not in stored
