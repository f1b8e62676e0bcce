"""A storm of password guesses over accounts and addresses, for the short and the long run of attack 33."""

import time
from collections import Counter
from dataclasses import dataclass, field

from tests.factories.accounts import PASSWORD, make_person
from tests.integration.security.browser import Browser


@dataclass
class Storm:
    """What came of the guesses."""

    answers: Counter[int] = field(default_factory=Counter)
    looked_at: Counter[str] = field(default_factory=Counter)  # guesses whose password was compared, by account
    seconds: float = 0.0


def attack(tries: int, *, accounts: int, addresses: int) -> Storm:
    """Guess round robin; every client also claims another address for itself. The last guess at each account is right."""
    people = [make_person(f"Target {number}") for number in range(accounts)]
    browsers = [Browser(f"198.51.{number // 250}.{number % 250 + 1}") for number in range(addresses)]
    storm = Storm()
    started = time.monotonic()
    for number in range(tries):
        person = people[number % accounts]
        right = number >= tries - accounts
        browser = browsers[(number * 7 + number // accounts) % addresses]
        claimed = f"192.0.2.{number % 250}"
        answer = browser.sign_in(
            person.email, PASSWORD if right else f"guess {number}", headers={"X-Forwarded-For": claimed, "X-Real-Ip": claimed}
        )
        storm.answers[answer.status_code] += 1
        if answer.status_code != 429:
            storm.looked_at[person.email] += 1
    storm.seconds = time.monotonic() - started
    return storm
