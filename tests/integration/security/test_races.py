"""Attack 34 and 35 at one moment: two requests with one code, or one challenge, take turns, and one of them is refused."""

import threading
from contextlib import suppress

import pytest
from allauth.mfa.webauthn.internal.auth import STATE_SESSION_KEY
from django.contrib.sessions.backends.db import SessionStore
from django.contrib.sessions.models import Session
from django.db import connection

from apps.accounts.services import second_factor
from apps.kernel.errors import Invalid
from tests.factories.accounts import make_person
from tests.integration.security.browser import Browser, code_of

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def meeting(monkeypatch):
    """`meeting(owner, name)`: two threads that call this method wait for each other inside it, unless a lock keeps one out."""
    both = threading.Barrier(2)

    def at(owner, name):
        inner = getattr(owner, name)

        def meet(*given):
            found = inner(*given)
            with suppress(threading.BrokenBarrierError):
                both.wait(timeout=1.0)
            return found

        monkeypatch.setattr(owner, name, meet)

    return at


def twice_at_once(act):
    """How often `act` succeeded of two calls at the same moment."""
    done = []

    def run():
        try:
            done.append(bool(act()))
        except Invalid:
            done.append(False)
        finally:
            connection.close()

    threads = [threading.Thread(target=run) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(done) == 2
    return sum(done)


def test_one_code_in_two_browsers_at_the_same_moment_signs_in_one(meeting):
    person, browser = make_person("Codes"), Browser()
    browser.sign_in(person.email)
    code = code_of(browser.set_up_codes(), steps=1)
    meeting(second_factor, "matching_step")
    assert twice_at_once(lambda: second_factor.accept_code(person, code)) == 1


def test_one_challenge_answered_twice_at_the_same_moment_is_taken_once(meeting):
    kept = SessionStore()
    kept[STATE_SESSION_KEY] = {"challenge": "x"}
    kept.create()

    def take():
        session = SessionStore(kept.session_key)
        assert STATE_SESSION_KEY in session
        loaded.wait(timeout=5)
        return second_factor.take_challenge(session)

    loaded = threading.Barrier(2, action=lambda: meeting(Session, "get_decoded"))
    assert twice_at_once(take) == 1
