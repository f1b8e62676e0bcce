"""What must hold of a handshake before any code of the browser socket runs.

A browser cannot be told apart by its cookie alone: any page it shows can open a socket to us and the cookie goes along.
So the page's origin must be ours, byte for byte as browsers write it. Programs with tokens have the API and the gateway.
"""

import logging
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from functools import cache
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.http import parse_cookie
from django.http.request import split_domain_port, validate_host

from apps.kernel.limits import Places

Scope = MutableMapping[str, Any]
Application = Callable[[Any, Any, Any], Awaitable[None]]
PATH = "/ws/"
PER_ADDRESS = Places(256)
_DEFAULT_PORTS = {"http": 80, "https": 443}
_log = logging.getLogger(__name__)


def _origin(scheme: str, host: str, port: int | None) -> bytes:
    suffix = f":{port}" if port and port != _DEFAULT_PORTS.get(scheme) else ""
    return f"{scheme}://{host}{suffix}".lower().encode()


@cache
def our_origins() -> frozenset[bytes]:
    """The origins of our own pages: the public address, and the same at each other name we answer to."""
    public = urlsplit(settings.PUBLIC_URL)
    names = {name for name in settings.ALLOWED_HOSTS if not name.startswith((".", "*"))} | {public.hostname or ""}
    return frozenset(_origin(public.scheme, name, public.port) for name in names)


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
        address = _address(scope)
        if not PER_ADDRESS.take(address):
            _log.warning("page socket refused: too many from one address")
            return await _answer(send, 429, "too many sockets")
        try:
            cookies = parse_cookie(_one(scope, b"cookie").decode("latin-1"))
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
    origins = list(_all(scope, b"origin"))
    return len(origins) == 1 and origins[0] in our_origins()


def _host_is_ours(scope: Scope) -> bool:
    host, _port = split_domain_port(_one(scope, b"host").decode("latin-1"))
    return bool(host) and validate_host(host, settings.ALLOWED_HOSTS)


def _may_carry_token(scope: Scope) -> bool:
    return bool(list(_all(scope, b"authorization")) or scope.get("subprotocols") or scope.get("query_string"))


def _all(scope: Scope, name: bytes) -> Iterable[bytes]:
    return (value for key, value in scope["headers"] if key.lower() == name)


def _one(scope: Scope, name: bytes) -> bytes:
    """The only header of this name; empty where there is none or more than one."""
    found = list(_all(scope, name))
    return found[0] if len(found) == 1 else b""


def _address(scope: Scope) -> str:
    """The peer, or with trusted proxies in front the address they saw, as for requests."""
    hops: int = settings.TRUSTED_PROXIES
    chain = [part.strip() for value in _all(scope, b"x-forwarded-for") for part in value.decode("latin-1").split(",")]
    if hops and len(chain) >= hops:
        return chain[-hops]
    return str((scope.get("client") or ("",))[0])


async def _answer(send: Any, status: int, reason: str) -> None:
    body = reason.encode()
    headers = [(b"content-type", b"text/plain; charset=utf-8"), (b"cache-control", b"no-store")]
    await send({"type": "websocket.http.response.start", "status": status, "headers": headers})
    await send({"type": "websocket.http.response.body", "body": body})
