"""How a session's person is loaded."""

from typing import Any

from allauth.account.auth_backends import AuthenticationBackend

from apps.accounts import selectors
from apps.accounts.models import Person


class PersonBackend(AuthenticationBackend):
    """The sign-in library's rules; every page shows a person's preferences, so they come in the same query."""

    def get_user(self, user_id: Any) -> Person | None:
        """The active person of a session, or None."""
        person = selectors.find_person(user_id)
        return person if person is not None and self.user_can_authenticate(person) else None
