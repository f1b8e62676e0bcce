"""Hooks of the page of sessions."""

from collections.abc import Iterable

from allauth.core import context as library
from allauth.usersessions.adapter import DefaultUserSessionsAdapter
from allauth.usersessions.models import UserSession

from apps.accounts.selectors import actor_of_person
from apps.accounts.services import end_sessions


class SessionsAdapter(DefaultUserSessionsAdapter):
    """Ending a session leaves a fact."""

    def end_sessions(self, sessions: Iterable[UserSession]) -> None:
        """End these sessions of the person who asks."""
        person = library.request.user
        end_sessions(actor_of_person(person), person, keys=[session.session_key for session in sessions])
