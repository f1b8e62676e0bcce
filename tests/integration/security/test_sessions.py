"""Attack 37: sessions cannot be fixed, cookies keep their flags, signatures of one feature open no other; sessions end."""

import pytest
from allauth.usersessions.models import UserSession
from django.conf import settings as live
from django.contrib.auth.tokens import default_token_generator
from django.contrib.sessions.backends.db import SessionStore
from django.core import signing

from apps.accounts import selectors, services
from apps.accounts.adapters import devices
from apps.accounts.services import budgets
from apps.journal.models import Event
from tests.factories.accounts import PASSWORD, actor_of, make_person
from tests.integration.security.browser import Browser

pytestmark = pytest.mark.django_db
NEW = "another long password 77"


@pytest.fixture
def person():
    return make_person("Sessions")


def _signed_in(person, address="198.51.100.7"):
    browser = Browser(address)
    browser.sign_in(person.email)
    browser.get("/account/sessions/")
    assert browser.is_signed_in
    return browser


def test_a_session_fixed_by_an_attacker_is_worth_nothing(person):
    """Attack 37: the key known before sign-in is not the key after it, and opens nothing."""
    planted = SessionStore()
    planted["seen"] = True
    planted.save()
    victim, attacker = Browser(), Browser("203.0.113.5")
    for browser in (victim, attacker):
        browser.cookies[live.SESSION_COOKIE_NAME] = planted.session_key
    victim.sign_in(person.email)
    assert victim.is_signed_in
    assert victim.cookies[live.SESSION_COOKIE_NAME].value != planted.session_key
    assert attacker.get("/account/sessions/").status_code == 302
    assert not attacker.is_signed_in


def test_a_made_up_session_key_is_not_taken_over(person):
    """Attack 37: the server alone makes keys."""
    browser = Browser()
    browser.cookies[live.SESSION_COOKIE_NAME] = "a" * 32
    browser.sign_in(person.email)
    assert browser.cookies[live.SESSION_COOKIE_NAME].value != "a" * 32


@pytest.mark.parametrize("secure", [True, False])
def test_every_cookie_is_closed_to_scripts_and_other_sites(settings, person, secure):
    """Attack 37: HttpOnly and SameSite on all, Secure wherever the public address is https, no Domain."""
    settings.SESSION_COOKIE_SECURE = settings.CSRF_COOKIE_SECURE = secure
    browser = Browser()
    browser.get("/account/login/", secure=secure)
    browser.sign_in(person.email, secure=secure)
    names = {live.SESSION_COOKIE_NAME, live.CSRF_COOKIE_NAME, live.KNOWN_DEVICE_COOKIE_NAME}
    assert names <= set(browser.cookies)
    for name, cookie in browser.cookies.items():
        assert cookie["httponly"], name
        assert cookie["samesite"] == "Lax", name
        assert bool(cookie["secure"]) is secure, name
        assert not cookie["domain"], name
        assert cookie["path"] == "/", name


def test_a_signature_of_another_feature_marks_no_browser(person):
    """Attack 37: the same content signed for sessions, messages, mail or nothing in particular is no browser mark."""
    mark = {devices._mark(person.email): "device"}
    for number in range(budgets.BY_ACCOUNT.size):
        Browser(f"203.0.113.{number}").sign_in(person.email, "guess")
    salts = ["django.core.signing", "django.contrib.sessions.SessionStore", "django.contrib.messages", "apps.accounts", ""]
    swapped = [signing.dumps(mark, salt=salt) for salt in salts]
    swapped += [signing.Signer().sign_object(mark), signing.TimestampSigner(salt="x").sign_object(mark)]
    for value in swapped:
        attacker = Browser("203.0.113.200")
        attacker.cookies[live.KNOWN_DEVICE_COOKIE_NAME] = value
        assert attacker.sign_in(person.email).status_code == 429, value
    genuine = Browser("203.0.113.200")
    genuine.cookies[live.KNOWN_DEVICE_COOKIE_NAME] = signing.dumps(mark, salt=devices.SALT)
    assert genuine.sign_in(person.email).status_code == 302


def test_a_browser_mark_opens_nothing_else(person):
    """Attack 37: put in the place of the session, of the CSRF token or of a reset link it is refused."""
    browser = _signed_in(person)
    mark = browser.cookies[live.KNOWN_DEVICE_COOKIE_NAME].value
    other = Browser("203.0.113.5")
    other.cookies[live.SESSION_COOKIE_NAME] = mark
    assert other.get("/account/sessions/").status_code == 302
    assert not default_token_generator.check_token(person, mark)


def _sessions(browser):
    return [row.pk for row in browser.get("/account/sessions/").context["sessions"]]


def test_one_session_can_be_ended_and_only_ones_own(person):
    """Attacks 37 and 21: listed, ended one by one, gone at once for sockets too, with a fact."""
    mine, lost = _signed_in(person), _signed_in(person, "203.0.113.5")
    stranger = _signed_in(make_person("Stranger"), "203.0.113.6")
    keys = [lost.session.session_key, mine.session.session_key, stranger.session.session_key]
    assert set(selectors.sessions_in_force(keys)) == set(keys)
    theirs = UserSession.objects.get(session_key=keys[2]).pk
    assert theirs not in _sessions(mine)
    assert mine.post("/account/sessions/", {"session": theirs}).status_code == 404
    number = UserSession.objects.get(session_key=keys[0]).pk
    assert number in _sessions(mine)
    assert f'name="session" value="{number}"' in mine.get("/account/sessions/").content.decode()
    assert mine.post("/account/sessions/", {"session": number}).status_code == 302
    assert set(selectors.sessions_in_force(keys)) == set(keys[1:])
    assert lost.get("/account/sessions/").status_code == 302
    assert number not in _sessions(mine)
    assert Event.objects.filter(type="accounts.sessions_ended", payload__person_id=str(person.pk)).count() == 1


def test_all_others_can_be_ended(person):
    mine, lost = _signed_in(person), _signed_in(person, "203.0.113.5")
    assert mine.post("/account/sessions/").status_code == 302
    assert not lost.is_signed_in
    assert mine.is_signed_in


def _change(browser):
    return browser.post("/account/password/change/", {"oldpassword": PASSWORD, "password1": NEW, "password2": NEW})


def test_a_new_password_ends_every_other_session(person):
    """Attacks 37 and 21: others end at once, this one goes on, a fact says so and holds no password."""
    mine, lost = _signed_in(person), _signed_in(person, "203.0.113.5")
    gone = lost.session.session_key
    assert _change(mine).status_code == 302
    assert gone not in selectors.sessions_in_force([gone])
    assert not SessionStore().exists(gone)
    assert mine.get("/account/sessions/").status_code == 200
    kept = mine.session.session_key
    assert selectors.sessions_in_force([kept]) == {kept: person.pk}
    fact = Event.objects.get(type="accounts.password_changed")
    assert fact.payload == {"person_id": str(person.pk), "sessions_ended": 1}
    assert fact.actor_id == person.pk


def test_a_password_changed_behind_its_back_ends_a_session(person):
    """Attack 21: a session signed in under the old hash does not hold, even where its row is left."""
    browser = _signed_in(person)
    key = browser.session.session_key
    person.set_password(NEW)
    person.save()
    assert not selectors.sessions_in_force([key])


def test_somebody_deactivated_has_no_session(person):
    browser = _signed_in(person)
    key = browser.session.session_key
    person.is_active = False
    person.save()
    assert not selectors.sessions_in_force([key])
    assert not selectors.standing_of([(key, person.pk)])
    assert browser.get("/account/sessions/").status_code == 302


def test_the_standing_of_many_costs_three_queries(person, site, django_assert_num_queries):
    browsers = [_signed_in(person, f"203.0.113.{number}") for number in range(4)]
    pairs = [(browser.session.session_key, person.pk) for browser in browsers]
    other = make_person("Other")
    with django_assert_num_queries(3):
        found = selectors.standing_of([*pairs, ("nothing", person.pk)])
    assert set(found) == {key for key, _ in pairs}
    assert not selectors.standing_of([(pairs[0][0], other.pk)]), "a session of one person stands for nobody else"


def test_nobody_ends_the_sessions_of_somebody_else(person):
    _signed_in(person)
    from apps.kernel.errors import NotFound

    with pytest.raises(NotFound):
        services.end_sessions(actor_of(make_person("Stranger")), person)
    with pytest.raises(NotFound):
        services.set_password(actor_of(make_person("Stranger 2")), person, NEW)
