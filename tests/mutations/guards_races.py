"""Row locks that make two requests of one moment take turns, each switched off in turn."""

from typing import Any

from tests.guards import guard
from tests.mutations import Mutation

_RACES = "tests/integration/security/test_races.py::"


def _unlocked(model: Any) -> None:
    from django.db.models import QuerySet

    lock = QuerySet.select_for_update

    def unless(rows: Any, *given: Any, **named: Any) -> Any:
        return rows.all() if rows.model is model else lock(rows, *given, **named)

    QuerySet.select_for_update = unless  # type: ignore[method-assign]


@guard("lock on the second factor")
def _factor() -> None:
    from allauth.mfa.models import Authenticator

    _unlocked(Authenticator)


@guard("lock on the session of a challenge")
def _challenge() -> None:
    from django.contrib.sessions.models import Session

    _unlocked(Session)


CASES = [
    Mutation("lock on the second factor", f"{_RACES}test_one_code_in_two_browsers_at_the_same_moment_signs_in_one"),
    Mutation(
        "lock on the session of a challenge", f"{_RACES}test_one_challenge_answered_twice_at_the_same_moment_is_taken_once"
    ),
]
