"""How often somebody may guess: leaking buckets counted in PostgreSQL.

PostgreSQL and not Valkey, because a limit must neither open nor lock everybody out while Valkey is down or was flushed, and
because a sign-in already needs PostgreSQL: without it nobody signs in at all. One statement takes from a bucket, so that
parallel guesses cannot slip past each other, and the database's own clock does the counting, so that a web machine with a
wrong clock changes nothing.
"""

import hashlib
from dataclasses import dataclass
from datetime import timedelta
from math import ceil
from typing import Any

from django.db import connection

from apps.accounts.models import SignInBudget
from apps.kernel import clock
from apps.kernel.errors import TooMany

_TAKE = """
    INSERT INTO accounts_sign_in_budget AS b (key, level, counted_at) VALUES (%(key)s, 1, clock_timestamp())
    ON CONFLICT (key) DO UPDATE
       SET level = greatest(0, b.level - greatest(0, extract(epoch FROM clock_timestamp() - b.counted_at)) / %(leak_s)s) + 1,
           counted_at = clock_timestamp()
     WHERE greatest(0, b.level - greatest(0, extract(epoch FROM clock_timestamp() - b.counted_at)) / %(leak_s)s) + 1 <= %(size)s
    RETURNING level
"""
_WAIT = """
    SELECT (level + 1 - %(size)s) * %(leak_s)s - extract(epoch FROM clock_timestamp() - counted_at)
      FROM accounts_sign_in_budget WHERE key = %(key)s
"""
_GIVE_BACK = "UPDATE accounts_sign_in_budget SET level = greatest(0, level - 1) WHERE key = %(key)s"
REMEMBERED = timedelta(days=1)  # longer than any bucket needs to run empty


@dataclass(frozen=True)
class Budget:
    """`size` tries at once, then one more each `leak_s` seconds."""

    name: str
    size: int
    leak_s: float

    def key(self, subject: str) -> bytes:
        """The bucket of one subject (an address, an account, a device)."""
        return hashlib.sha256(f"{self.name}\x00{subject}".encode("utf-8", "surrogatepass")).digest()


# Sign-in and step-up by password. A success gives its try back, so only failures add up.
BY_ADDRESS = Budget("sign-in by address", 20, 30)
BY_ACCOUNT = Budget("sign-in by account", 10, 180)
BY_DEVICE = Budget("sign-in by known device", 10, 20)
# Six-digit codes: three of a million are right at any moment, so 5 and then 12 an hour leave 0.1 % a day.
CODE_BY_ACCOUNT = Budget("code by account", 5, 300)
CODE_BY_DEVICE = Budget("code by known device", 5, 60)
PASSKEY_BY_ADDRESS = Budget("passkey by address", 20, 10)
# Mail that a stranger can cause, and links out of it.
RESET_BY_ADDRESS = Budget("reset by address", 10, 60)
RESET_BY_ACCOUNT = Budget("reset by account", 5, 300)
RESET_LINK_BY_ADDRESS = Budget("reset link by address", 20, 15)
# Acts of somebody signed in.
CREDENTIALS_BY_PERSON = Budget("credential change by person", 20, 15)


def take(budget: Budget, subject: str) -> None:
    """Use one try, or raise TooMany, saying when the next one is there. A refused try costs nothing more."""
    values: dict[str, Any] = {"key": budget.key(subject), "leak_s": budget.leak_s, "size": budget.size}
    with connection.cursor() as cursor:
        cursor.execute(_TAKE, values)
        if cursor.fetchone() is not None:
            return
        cursor.execute(_WAIT, values)
        row = cursor.fetchone()
    wait = ceil(max(1.0, float(row[0]) if row else budget.leak_s))
    raise TooMany("Too many tries. Wait a little, then try again.", retry_after_s=wait)


def give_back(budget: Budget, subject: str) -> None:
    """Return a try that was no guess."""
    with connection.cursor() as cursor:
        cursor.execute(_GIVE_BACK, {"key": budget.key(subject)})


def forget_old() -> int:
    """Drop buckets that ran empty long ago. Returns how many."""
    return SignInBudget.objects.filter(counted_at__lt=clock.now() - REMEMBERED).delete()[0]
