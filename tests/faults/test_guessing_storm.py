"""Attack 33 in full: ten thousand guesses over accounts and addresses."""

import pytest

from apps.accounts.services import budgets
from tests.factories.accounts import make_person
from tests.integration.security.browser import Browser
from tests.integration.security.guessing import attack

pytestmark = [pytest.mark.faults, pytest.mark.django_db, pytest.mark.timeout(1800)]


def test_ten_thousand_guesses_open_nothing_and_lock_out_nobody_known():
    owner = make_person("Owner")
    home = Browser("198.51.100.7")
    home.sign_in(owner.email)
    home.post("/account/logout/")
    storm = attack(10_000, accounts=50, addresses=400)
    most = budgets.BY_ACCOUNT.size + storm.seconds / budgets.BY_ACCOUNT.leak_s + 1
    assert max(storm.looked_at.values()) <= most
    assert set(storm.answers) == {200, 429}
    for number in range(500):
        Browser(f"203.0.113.{number % 250}").sign_in(owner.email, f"guess {number}")
    assert home.sign_in(owner.email).status_code == 302
