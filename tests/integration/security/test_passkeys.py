"""Attack 35: an assertion from elsewhere, a challenge replayed, a counter that went back: all refused."""

import json

import pytest
from allauth.mfa.models import Authenticator

from apps.journal.models import Event
from tests.factories.accounts import make_person
from tests.integration.security.authenticator import ORIGIN, Passkey
from tests.integration.security.browser import CODE, Browser

pytestmark = pytest.mark.django_db
ADD = "/account/2fa/webauthn/add/"
SIGN_IN = "/account/2fa/webauthn/login/"
STEP_UP = "/account/2fa/webauthn/reauthenticate/"
ELSEWHERE = ["https://evil.example", "http://localhost:8001", "https://localhost:8000", "http://a.localhost:8000", "null"]


def _add(browser, key, *, origin=ORIGIN, passwordless="on"):
    options = browser.options_on(browser.get(ADD))
    credential = key.create(options, origin=origin)
    return browser.post(ADD, {"name": "Key", "passwordless": passwordless, "credential": json.dumps(credential)})


@pytest.fixture
def person():
    return make_person("Passkey")


@pytest.fixture
def key(person):
    browser = Browser()
    browser.sign_in(person.email)
    browser.step_up()
    key = Passkey()
    assert _add(browser, key).status_code == 302
    assert Authenticator.objects.filter(user=person, type="webauthn").count() == 1
    return key


def _ask(browser):
    return browser.get(SIGN_IN, headers={"Accept": "application/json"}).json()["request_options"]["publicKey"]


def _give(browser, assertion):
    return browser.post(SIGN_IN, {"credential": json.dumps(assertion)})


def test_a_passkey_signs_in_and_counts_as_a_proof(person, key):
    browser = Browser("203.0.113.5")
    answer = _give(browser, key.sign(_ask(browser)))
    assert answer.status_code == 302
    assert browser.is_signed_in
    assert browser.session["_auth_user_id"] == str(person.pk)
    facts = Event.objects.filter(stream=f"accounts.person:{person.pk}").values_list("type", flat=True)
    assert list(facts) == ["accounts.second_factor_added"]


@pytest.mark.parametrize("origin", ELSEWHERE)
def test_an_assertion_from_another_origin_is_refused(key, origin):
    """Attack 35: another host, port, scheme or subdomain."""
    browser = Browser("203.0.113.5")
    _give(browser, key.sign(_ask(browser), origin=origin))
    assert not browser.is_signed_in


@pytest.mark.parametrize("origin", ELSEWHERE)
def test_a_registration_from_another_origin_is_refused(person, origin):
    """Attack 35: nor is a key kept that was made elsewhere."""
    browser = Browser()
    browser.sign_in(person.email)
    browser.step_up()
    _add(browser, Passkey(), origin=origin)
    assert not Authenticator.objects.filter(user=person).exists()


def test_the_console_names_its_own_host_to_passkeys(settings, key):
    """Attacks 35 and 38: the relying party is the public address, not what the request's Host says."""
    browser = Browser()
    answer = browser.get(SIGN_IN, headers={"Accept": "application/json", "Host": "127.0.0.1"})
    assert answer.json()["request_options"]["publicKey"]["rpId"] == "localhost"


def _stuck_at_zero(key):
    """A synced passkey: its counter stays 0 and so stops nothing."""
    row = Authenticator.objects.get(type="webauthn")
    row.data["sign_count"] = 0
    row.save()


def test_an_assertion_replayed_in_another_session_is_refused(key):
    """Attack 35: the challenge was given to one session."""
    _stuck_at_zero(key)
    first = Browser("203.0.113.5")
    assertion = key.sign(_ask(first), counter=0)
    _give(first, assertion)
    assert first.is_signed_in
    again = Browser("203.0.113.6")
    _ask(again)
    _give(again, assertion)
    assert not again.is_signed_in


def test_an_assertion_replayed_at_step_up_proves_nothing(key):
    """Attack 35: in its own session, too, an answer counts once."""
    _stuck_at_zero(key)
    browser = Browser("203.0.113.5")
    _give(browser, key.sign(_ask(browser), counter=0))
    assertion = {"credential": json.dumps(key.sign(browser.options_on(browser.get(STEP_UP)), counter=0))}
    browser.post(STEP_UP, assertion)
    proofs = len(browser.session["account_authentication_methods"])
    assert proofs == 2
    browser.post(STEP_UP, assertion)
    assert len(browser.session["account_authentication_methods"]) == proofs


def test_a_challenge_is_asked_once_even_after_a_wrong_answer(key):
    """Attack 35: a failed try uses the challenge up."""
    browser = Browser("203.0.113.5")
    options = _ask(browser)
    _give(browser, key.sign(options, origin="https://evil.example"))
    _give(browser, key.sign(options))
    assert not browser.is_signed_in


def test_two_requests_of_one_session_cannot_share_a_challenge(key):
    """Attack 35: both loaded the session before either answered; only one is let through."""
    from django.contrib.sessions.backends.db import SessionStore

    from apps.accounts.services.second_factor import take_challenge
    from apps.kernel.errors import Invalid

    browser = Browser("203.0.113.5")
    _ask(browser)
    loaded = [SessionStore(browser.session.session_key) for _ in range(2)]
    for session in loaded:
        session.load()
        session["loaded"] = True
    take_challenge(loaded[0])
    with pytest.raises(Invalid):
        take_challenge(loaded[1])


@pytest.mark.parametrize("back_to", [0, 1, 5])
def test_a_cloned_counter_is_refused(key, back_to):
    """Attack 35: the copy of a key counts behind the key, or level with it."""
    real = Browser("203.0.113.5")
    _give(real, key.sign(_ask(real), counter=5))
    assert real.is_signed_in
    clone = Browser("203.0.113.6")
    _give(clone, key.sign(_ask(clone), counter=back_to))
    assert not clone.is_signed_in
    later = Browser("203.0.113.7")
    _give(later, key.sign(_ask(later), counter=6))
    assert later.is_signed_in


def test_as_second_factor_the_same_rules_hold(person, key):
    """Attack 35: at the page after the password."""
    browser = Browser("203.0.113.5")
    browser.sign_in(person.email)
    options = browser.options_on(browser.get(CODE))
    browser.post(CODE, {"credential": json.dumps(key.sign(options, origin=ELSEWHERE[1]))})
    assert not browser.is_signed_in
    options = browser.options_on(browser.get(CODE))
    browser.post(CODE, {"credential": json.dumps(key.sign(options, counter=0))})
    assert not browser.is_signed_in
    options = browser.options_on(browser.get(CODE))
    browser.post(CODE, {"credential": json.dumps(key.sign(options, counter=9))})
    assert browser.is_signed_in


def test_step_up_by_passkey_returns_to_the_page(person, key):
    browser = Browser("203.0.113.5")
    _give(browser, key.sign(_ask(browser)))
    page = browser.get(f"{STEP_UP}?next=/account/sessions/")
    answer = browser.post(f"{STEP_UP}?next=/account/sessions/", {"credential": json.dumps(key.sign(browser.options_on(page)))})
    assert answer["Location"] == "/account/sessions/"


def test_somebody_elses_handle_opens_nothing(person, key):
    """Attack 35: a key signs for its owner, whatever user handle the browser sends."""
    other = make_person("Other")
    browser = Browser("203.0.113.5")
    from fido2.utils import websafe_encode

    assertion = key.sign(_ask(browser))
    assertion["response"]["userHandle"] = websafe_encode(other.pk.hex.encode())
    _give(browser, assertion)
    assert not browser.is_signed_in


@pytest.mark.parametrize(
    "body", ["", "[]", "null", "{}", '"x"', '{"response": 5}', '{"id": "a", "response": {"userHandle": "/w"}}']
)
def test_nonsense_is_refused_without_a_fault(key, body):
    browser = Browser("203.0.113.5")
    _ask(browser)
    answer = browser.post(SIGN_IN, {"credential": body})
    assert answer.status_code == 302
    assert not browser.is_signed_in
