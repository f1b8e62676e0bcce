"""Hooks of password sign-in, step-up and mail."""

from types import SimpleNamespace
from typing import Any

import structlog
from allauth.account.adapter import DefaultAccountAdapter
from allauth.core import context as library
from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.urls import reverse

from apps.accounts.adapters import guesses
from apps.accounts.models import Person
from apps.accounts.selectors import actor_of_person, has_second_factor
from apps.accounts.services import set_password

_log = structlog.get_logger(__name__)


class AccountAdapter(DefaultAccountAdapter):
    """Nobody signs up alone, guesses are counted in PostgreSQL, links are canonical, passwords leave a fact."""

    _give_back: guesses.GiveBack | None = None

    def is_open_for_signup(self, request: HttpRequest) -> bool:
        """Never: an admin of a site invites people."""
        return False

    def pre_authenticate(self, request: HttpRequest, **credentials: Any) -> None:
        """Count the guess before the password is looked at, so that parallel guesses cannot slip past."""
        self._give_back = guesses.take_password_guess(request, str(credentials.get("email", "")))

    def _rollback_login_failed_rl_usage(self) -> None:
        """The library's hook for a right password."""
        if self._give_back is not None:
            self._give_back()

    def authenticate(self, request: HttpRequest, **credentials: Any) -> Person | None:
        """The person with this address and password. Somebody deactivated is answered like a wrong password."""
        person = super().authenticate(request, **credentials)
        return person if person is not None and person.is_active else None

    def authentication_failed(self, request: HttpRequest, **credentials: Any) -> None:
        """Leave a line for whoever watches; never the address typed, which may be somebody's password."""
        _log.warning("sign-in failed", address=guesses.address_of(request))

    def post_login(self, request: HttpRequest, user: Any, **kwargs: Any) -> HttpResponse:
        """Remember this browser for the account."""
        request.known_for = user.email  # type: ignore[attr-defined]
        _log.info("signed in", person=str(user.pk), address=guesses.address_of(request))
        return super().post_login(request, user, **kwargs)

    def set_password(self, user: Any, password: str) -> None:
        """Change, set and reset all come through here."""
        request = library.request
        keep = request.session.session_key if request.user.is_authenticated and request.user.pk == user.pk else None
        set_password(actor_of_person(user), user, password, keep_session=keep)
        request.known_for = user.email

    def get_reauthentication_methods(self, user: Any) -> list[dict[str, Any]]:
        """Whoever has a second factor steps up with it; a password alone is not enough for them any more."""
        methods = super().get_reauthentication_methods(user)
        if user.is_authenticated and has_second_factor(user.pk):
            methods = [method for method in methods if method["id"] != "reauthenticate"]
        return methods

    def get_password_change_redirect_url(self, request: HttpRequest) -> str:
        """Where the other sessions can be seen to be gone."""
        return reverse("usersessions_list")

    def is_safe_url(self, url: str | None) -> bool:
        """Whether a page may send the browser there; not to what is no address at all, which the library fails over."""
        try:
            return bool(super().is_safe_url(url))
        except ValueError:
            return False

    def get_reset_password_from_key_url(self, key: str) -> str:
        """Under the one public address, whatever host the request named."""
        path = reverse("account_reset_password_from_key", kwargs={"uidb36": "UID", "key": "KEY"})
        return settings.PUBLIC_URL + path.replace("UID-KEY", key)

    def send_mail(self, template_prefix: str, email: str, context: dict[str, Any]) -> None:
        """Every link and name in a mail is ours, never the request's."""
        given = library.request.build_absolute_uri("/")
        ours = {
            name: settings.PUBLIC_URL + "/" + value.removeprefix(given)
            if isinstance(value, str) and value.startswith(given)
            else value
            for name, value in context.items()
        }
        host = settings.PUBLIC_URL.partition("://")[2]
        super().send_mail(template_prefix, email, {**ours, "current_site": SimpleNamespace(name="Pilothouse", domain=host)})
