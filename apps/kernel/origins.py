"""Whether a handshake or request comes from a page of ours. Used where Django's own checks do not run: sockets, raw ASGI.

A browser cannot be told apart by its cookie alone: any page it shows can open a socket to us and the cookie goes along.
So the page's origin must be ours, byte for byte as browsers write it.
"""

from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.http.request import split_domain_port, validate_host

Scope = Mapping[str, Any]
_DEFAULT_PORTS = {"http": 80, "https": 443}


def _origin(scheme: str, host: str, port: int | None) -> bytes:
    suffix = f":{port}" if port and port != _DEFAULT_PORTS.get(scheme) else ""
    return f"{scheme}://{host}{suffix}".lower().encode()


@cache
def our_origins() -> frozenset[bytes]:
    """The origins of our own pages: the public address, and the same at each other name we answer to."""
    public = urlsplit(settings.PUBLIC_URL)
    names = {name for name in settings.ALLOWED_HOSTS if not name.startswith((".", "*"))} | {public.hostname or ""}
    return frozenset(_origin(public.scheme, name, public.port) for name in names)


def every(scope: Scope, name: bytes) -> Iterable[bytes]:
    """Every value of one header."""
    return (value for key, value in scope["headers"] if key.lower() == name)


def only(scope: Scope, name: bytes) -> bytes:
    """The only header of this name; empty where there is none or more than one."""
    found = list(every(scope, name))
    return found[0] if len(found) == 1 else b""


def origin_is_ours(scope: Scope) -> bool:
    """Whether exactly one origin is given, and it is one of ours."""
    origins = list(every(scope, b"origin"))
    return len(origins) == 1 and origins[0] in our_origins()


def host_is_ours(scope: Scope) -> bool:
    """Whether it was us who were asked: a rebound name is refused."""
    host, _port = split_domain_port(only(scope, b"host").decode("latin-1"))
    return bool(host) and validate_host(host, settings.ALLOWED_HOSTS)


def may_carry_token(scope: Scope) -> bool:
    """Whether anything is there that could sign in besides the session: a page has none of it."""
    return bool(list(every(scope, b"authorization")) or scope.get("subprotocols") or scope.get("query_string"))


def address(scope: Scope) -> str:
    """The peer, or with trusted proxies in front the address they saw, as for requests."""
    hops: int = settings.TRUSTED_PROXIES
    chain = [part.strip() for value in every(scope, b"x-forwarded-for") for part in value.decode("latin-1").split(",")]
    if hops and len(chain) >= hops:
        return chain[-hops]
    return str((scope.get("client") or ("",))[0])
