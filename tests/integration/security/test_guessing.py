"""Attack 33: guessing passwords is limited, locks nobody out of a known browser, and does not tell who exists."""

import re
import time

import pytest

from apps.accounts.models import SignInBudget
from apps.accounts.services import budgets
from tests.factories.accounts import PASSWORD, make_person
from tests.integration.security.browser import Browser, code_of
from tests.integration.security.guessing import attack

pytestmark = pytest.mark.django_db
DEAD_CACHE = {"default": {"BACKEND": "django.core.cache.backends.redis.RedisCache", "LOCATION": "redis://127.0.0.1:9"}}


def test_a_storm_of_guesses_is_limited_for_each_account():
    """Attack 33, at a twentieth: many accounts, many addresses, forged forwarding headers; the right guess comes too late."""
    storm = attack(500, accounts=10, addresses=40)
    most = budgets.BY_ACCOUNT.size + storm.seconds / budgets.BY_ACCOUNT.leak_s + 1
    assert max(storm.looked_at.values()) <= most
    assert set(storm.answers) == {200, 429}, "no guess may succeed, and none may fault"
    assert storm.answers[429] > 350


def test_one_address_cannot_try_many_accounts():
    """Attack 33: spraying one password over accounts, existing or not, behind forged forwarding headers."""
    browser = Browser("198.51.100.66")
    started = time.monotonic()
    answers = [
        browser.sign_in(f"person{number}@example.test", "guess", headers={"X-Forwarded-For": f"192.0.2.{number}"}).status_code
        for number in range(60)
    ]
    most = budgets.BY_ADDRESS.size + (time.monotonic() - started) / budgets.BY_ADDRESS.leak_s + 1
    assert answers.count(200) <= most
    assert answers[-1] == 429


def test_the_owner_gets_in_from_a_known_browser_during_the_storm():
    """Attack 33: while strangers use the account's budget up, even from the owner's own address."""
    person = make_person("Owner")
    home = Browser("198.51.100.7")
    home.sign_in(person.email)
    assert home.is_signed_in
    home.post("/account/logout/")
    for number in range(40):
        Browser("198.51.100.7" if number % 2 else f"203.0.113.{number}").sign_in(person.email, f"guess {number}")
    assert Browser("203.0.113.200").sign_in(person.email).status_code == 429, "a stranger with the right password is refused"
    answer = home.sign_in(person.email)
    assert answer.status_code == 302
    assert home.is_signed_in


def test_a_known_browser_may_not_guess_without_end_either():
    """Attack 33: a stolen browser mark has a budget of its own, and opens no other account."""
    person, other = make_person("Owner"), make_person("Other")
    thief = Browser("203.0.113.50")
    thief.sign_in(person.email)
    thief.post("/account/logout/")
    answers = [thief.sign_in(person.email, f"guess {number}").status_code for number in range(budgets.BY_DEVICE.size + 4)]
    assert answers[-1] == 429
    for number in range(budgets.BY_ACCOUNT.size):
        Browser(f"203.0.113.{number}").sign_in(other.email, "guess")
    assert thief.sign_in(other.email).status_code == 429


def test_a_success_costs_nothing():
    person = make_person("Often")
    for _ in range(budgets.BY_ACCOUNT.size + 5):
        browser = Browser()
        assert browser.sign_in(person.email).status_code == 302


def test_the_wait_is_named():
    person = make_person("Waiting")
    answers = [Browser(f"203.0.113.{number}").sign_in(person.email, "guess") for number in range(budgets.BY_ACCOUNT.size + 1)]
    assert answers[-1].status_code == 429
    assert 1 <= int(answers[-1]["Retry-After"]) <= budgets.BY_ACCOUNT.leak_s


def _text(answer, email):
    """What a person sees, without what differs for every request."""
    text = answer.content.decode().replace(email, "(address)")
    text = re.sub(r'(nonce|value|data-now|content)="[^"]*"', r"\1", text)
    text = re.sub(r"[0-9a-f]{8}-[0-9a-f-]{27}", "(id)", text)
    return re.sub(r"\d+ s\b|\d+ seconds", "(wait)", text)


@pytest.mark.parametrize("tries", [1, budgets.BY_ACCOUNT.size + 1])
def test_the_answer_does_not_tell_who_exists(tries):
    """Attack 33: same status and text for an unknown, a known and a deactivated account, before and past the limit."""
    make_person("Known", email="known@example.test")
    make_person("Gone", email="gone@example.test", is_active=False)
    seen = []
    for number, email in enumerate(("known@example.test", "nobody@example.test", "gone@example.test")):
        answers = [Browser(f"203.0.{number}.{turn}").sign_in(email, "guess") for turn in range(tries)]
        seen.append((answers[-1].status_code, _text(answers[-1], email)))
    assert seen[0] == seen[1] == seen[2]
    right = Browser("203.0.113.9").sign_in("gone@example.test")
    assert right.status_code == seen[0][0], "nor does the right password of somebody deactivated"


def test_a_password_reset_does_not_tell_who_exists():
    """Attack 33: asking for a link answers the same."""
    make_person("Known", email="known@example.test")
    known = Browser().post("/account/password/reset/", {"email": "known@example.test"})
    unknown = Browser().post("/account/password/reset/", {"email": "nobody@example.test"})
    assert (known.status_code, known["Location"]) == (unknown.status_code, unknown["Location"])


@pytest.mark.filterwarnings("ignore")
def test_an_unknown_account_takes_as_long(settings):
    """Attack 33: within 10 %, with the production hasher. The quickest of each side counts; noise gets four chances."""
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.Argon2PasswordHasher"]
    make_person("Known", email="known@example.test")
    browser = Browser()

    def timed(email):
        SignInBudget.objects.all().delete()
        started = time.perf_counter()
        assert browser.sign_in(email, "guess").status_code == 200
        return time.perf_counter() - started

    timed("known@example.test"), timed("nobody@example.test")
    for _ in range(4):
        pairs = [(timed("known@example.test"), timed("nobody@example.test")) for _ in range(7)]
        known, unknown = (min(side) for side in zip(*pairs, strict=True))
        if abs(known - unknown) <= 0.1 * max(known, unknown):
            return
    pytest.fail(f"a known account takes {known:.4f} s, an unknown one {unknown:.4f} s")


def test_limits_hold_and_sign_in_works_while_valkey_is_down(settings):
    """Attack 33: the cache decides nothing: neither opens nor locks, and a used code stays used."""
    settings.CACHES = DEAD_CACHE
    person = make_person("Calm")
    browser = Browser()
    browser.sign_in(person.email)
    secret = browser.set_up_codes()
    again, replay = Browser(), Browser()
    again.sign_in(person.email)
    code = code_of(secret)
    assert again.give_code(code).status_code == 302
    assert again.is_signed_in
    replay.sign_in(person.email)
    replay.give_code(code)
    assert not replay.is_signed_in
    answers = [Browser(f"203.0.113.{number}").sign_in("target@example.test", "guess").status_code for number in range(14)]
    assert answers[-1] == 429


def test_nobody_signs_up():
    """A posted sign-up makes nobody."""
    from apps.accounts.models import Person

    Browser().post("/account/signup/", {"email": "new@example.test", "password1": PASSWORD, "password2": PASSWORD})
    assert not Person.objects.filter(email="new@example.test").exists()


def test_guesses_at_step_up_are_limited():
    """Attack 33: a session left open is no place to guess the password, though its browser is known."""
    person = make_person("Open")
    browser = Browser()
    browser.sign_in(person.email)
    answers = [browser.step_up(f"guess {number}").status_code for number in range(budgets.BY_DEVICE.size + 2)]
    assert answers[-1] == 429
    changes = [
        browser.post("/account/password/change/", {"oldpassword": f"x{n}", "password1": "n3w", "password2": "n3w"}).status_code
        for n in range(budgets.CREDENTIALS_BY_PERSON.size + 2)
    ]
    assert changes[-1] == 429
