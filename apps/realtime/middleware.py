"""What must hold of a handshake before any code of the browser socket runs.

A browser cannot be told apart by its cookie alone: any page it shows can open a socket to us and the cookie goes along.
So the page's origin must be ours, byte for byte as browsers write it. Programs with tokens have the API and the gateway.
"""

import logging
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from django.conf import settings
from django.http import parse_cookie

from apps.kernel import origins
from apps.kernel.limits import Places

Scope = MutableMapping[str, Any]
Application = Callable[[Any, Any, Any], Awaitable[None]]
PATH = "/ws/"
PER_ADDRESS = Places(256)
_log = logging.getLogger(__name__)


class BrowsersOnly:
    """Answers 403 to whatever is not a page of ours, 404 to another path, 429 to an address with too many sockets."""

    def __init__(self, inner: Application) -> None:
        self._inner = inner

    async def __call__(self, scope: Scope, receive: Any, send: Any) -> None:
        """Let the handshake through with the session key in its scope, or answer it."""
        fault = fault_of(scope)
        if fault is not None:
            status, reason = fault
            _log.warning("page socket refused: %s", reason)
            return await _answer(send, status, reason)
        address = origins.address(scope)
        if not PER_ADDRESS.take(address):
            _log.warning("page socket refused: too many from one address")
            return await _answer(send, 429, "too many sockets")
        try:
            cookies = parse_cookie(origins.only(scope, b"cookie").decode("latin-1"))
            return await self._inner({**scope, "session_key": cookies.get(settings.SESSION_COOKIE_NAME, "")}, receive, send)
        finally:
            PER_ADDRESS.give_back(address)


def fault_of(scope: Scope) -> tuple[int, str] | None:
    """Status and reason when the handshake may not go on, else None. Reasons quote nothing that was sent."""
    if scope["path"] != PATH:
        return 404, "no such socket"
    if not _is_ours(scope):
        return 403, "the origin is not ours"
    if not _host_is_ours(scope):
        return 403, "the host is not ours"
    if _may_carry_token(scope):
        return 403, "a page signs in by its session alone"
    return None


def _is_ours(scope: Scope) -> bool:
    return origins.origin_is_ours(scope)


def _host_is_ours(scope: Scope) -> bool:
    return origins.host_is_ours(scope)


def _may_carry_token(scope: Scope) -> bool:
    return origins.may_carry_token(scope)


async def _answer(send: Any, status: int, reason: str) -> None:
    body = reason.encode()
    headers = [(b"content-type", b"text/plain; charset=utf-8"), (b"cache-control", b"no-store")]
    await send({"type": "websocket.http.response.start", "status": status, "headers": headers})
    await send({"type": "websocket.http.response.body", "body": body})
