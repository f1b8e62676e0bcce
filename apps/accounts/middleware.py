"""Knows who is asking, from which browser, and how often they may guess."""

import ipaddress
from collections.abc import Callable
from functools import lru_cache
from typing import Any

from allauth.account.adapter import get_adapter
from asgiref.sync import iscoroutinefunction, markcoroutinefunction, sync_to_async
from django.conf import settings
from django.db import DatabaseError, InterfaceError
from django.http import HttpRequest, HttpResponse
from django.utils.functional import SimpleLazyObject
from psycopg_pool import PoolTimeout

from apps.accounts import selectors
from apps.accounts.adapters import devices, guesses
from apps.accounts.services import budgets, sign_in
from apps.kernel import clock, problems
from apps.kernel.errors import NotFound, TooMany
from apps.kernel.types import ANONYMOUS, Actor

Handler = Callable[[HttpRequest], Any]
SEEN_EVERY_S = 60.0


def _load(request: HttpRequest) -> Actor:
    if not request.user.is_authenticated:
        return ANONYMOUS
    return selectors.actor_of_person(
        request.user,
        proved_at=selectors.proved_at_of(request.session),
        second_factor=selectors.gave_second_factor(request.session),
    )


class _Both:
    """Base of middleware that serves both sync and async chains: look at the request, then finish the response."""

    sync_capable = True
    async_capable = True

    def __init__(self, get_response: Handler) -> None:
        self.get_response = get_response
        self.is_async = iscoroutinefunction(get_response)
        if self.is_async:
            markcoroutinefunction(self)

    def __call__(self, request: HttpRequest) -> Any:
        if self.is_async:
            return self.__acall__(request)
        answer = self.look(request) or self.get_response(request)
        self.finish(request, answer)
        return answer

    async def __acall__(self, request: HttpRequest) -> HttpResponse:
        answer = self.look(request) or await self.get_response(request)
        await sync_to_async(self.finish)(request, answer)
        return answer

    def look(self, request: HttpRequest) -> HttpResponse | None:
        """An answer instead of the view's, or None to go on. No database here."""

    def finish(self, request: HttpRequest, response: HttpResponse) -> None:
        """After the view."""


class SignedIn(_Both):
    """Sets `request.actor`, loaded on first use so that static pages cost no query, and notes when a session was last seen."""

    def __init__(self, get_response: Handler) -> None:
        super().__init__(get_response)
        self.seen: dict[str, float] = {}

    def look(self, request: HttpRequest) -> None:
        """Set the actor."""
        request.actor = SimpleLazyObject(lambda: _load(request))  # type: ignore[attr-defined]

    def finish(self, request: HttpRequest, response: HttpResponse) -> None:
        """Note the session, once a minute at most, and remember the browser after a sign-in."""
        email = getattr(request, "known_for", None)
        if email is not None:
            devices.remember(request, response, email)
        person = getattr(request, "_cached_user", None)  # set only where something asked who it is
        key = request.session.session_key
        if person is None or not person.is_authenticated or not key:
            return
        now = clock.monotonic()
        if now - self.seen.get(key, -SEEN_EVERY_S) < SEEN_EVERY_S:
            return
        if len(self.seen) > 10_000:
            self.seen.clear()
        self.seen[key] = now
        address, browser = get_adapter().get_client_ip(request), request.headers.get("User-Agent", "")
        try:
            sign_in.note_session(person, key, address=address, browser=browser)
        except (DatabaseError, InterfaceError, PoolTimeout):
            self.seen.pop(key, None)  # the answer stands; the time is noted at the next request


class AdminNetworks(_Both):
    """Outside the allowed networks there is no admin site."""

    def look(self, request: HttpRequest) -> HttpResponse | None:
        """404 for a stranger to the network, whoever they are."""
        if request.path_info != "/admin" and not request.path_info.startswith("/admin/"):
            return None
        if may_reach_admin(request.META.get("REMOTE_ADDR", "")):
            return None
        return problems.answer(request, NotFound("There is nothing here."))


def may_reach_admin(text: str) -> bool:
    """Whether an address lies in ADMIN_NETWORKS."""
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        return False
    if isinstance(address, ipaddress.IPv6Address) and address.ipv4_mapped is not None:
        address = address.ipv4_mapped
    return any(address in network for network in _networks(tuple(settings.ADMIN_NETWORKS)))


@lru_cache(maxsize=4)
def _networks(texts: tuple[str, ...]) -> tuple[ipaddress.IPv4Network | ipaddress.IPv6Network, ...]:
    return tuple(ipaddress.ip_network(text, strict=False) for text in texts)


class GuessLimits(_Both):
    """Counts the requests of the sign-in library that its hooks do not let us count one by one."""

    def process_view(self, request: HttpRequest, _view: Any, _args: Any, _kwargs: Any) -> HttpResponse | None:
        """429 past the budget."""
        name = request.resolver_match.view_name if request.resolver_match else ""
        try:
            for budget, subject in _counted(request, name):
                budgets.take(budget, subject)
        except TooMany as refusal:
            return problems.answer(request, refusal)
        return None


_CREDENTIAL_PAGES = frozenset(
    {
        "account_change_password",
        "account_set_password",
        "mfa_activate_totp",
        "mfa_deactivate_totp",
        "mfa_add_webauthn",
        "mfa_remove_webauthn",
        "mfa_edit_webauthn",
        "mfa_generate_recovery_codes",
        "mfa_reauthenticate_webauthn",
        "usersessions_list",
    }
)


def _counted(request: HttpRequest, name: str) -> list[tuple[budgets.Budget, str]]:
    if name == "account_reset_password_from_key":
        return [(budgets.RESET_LINK_BY_ADDRESS, guesses.address_of(request))]
    if request.method != "POST":
        return []
    if name == "account_reset_password":
        email = request.POST.get("email", "").strip().lower()
        return [(budgets.RESET_BY_ADDRESS, guesses.address_of(request)), (budgets.RESET_BY_ACCOUNT, email)]
    if name == "mfa_login_webauthn":
        return [(budgets.PASSKEY_BY_ADDRESS, guesses.address_of(request))]
    if name in _CREDENTIAL_PAGES and request.user.is_authenticated:
        return [(budgets.CREDENTIALS_BY_PERSON, str(request.user.pk))]
    return []
