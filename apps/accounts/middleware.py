"""Knows who is asking."""

from collections.abc import Callable
from typing import Any

from asgiref.sync import iscoroutinefunction, markcoroutinefunction
from django.http import HttpRequest
from django.utils.functional import SimpleLazyObject

from apps.accounts import selectors
from apps.kernel.types import ANONYMOUS, Actor


def _load(request: HttpRequest) -> Actor:
    if not request.user.is_authenticated:
        return ANONYMOUS
    return selectors.actor_of_person(request.user, proved_at=selectors.proved_at_of(request.session))


class SignedIn:
    """Sets `request.actor`, loaded on first use so that static pages cost no query."""

    sync_capable = True
    async_capable = True

    def __init__(self, get_response: Callable[[HttpRequest], Any]) -> None:
        self.get_response = get_response
        if iscoroutinefunction(get_response):
            markcoroutinefunction(self)

    def __call__(self, request: HttpRequest) -> Any:
        request.actor = SimpleLazyObject(lambda: _load(request))  # type: ignore[attr-defined]
        return self.get_response(request)
