"""The few words of ASGI that the gateway uses."""

from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Any

Scope = Mapping[str, Any]
Receive = Callable[[], Awaitable[dict[str, Any]]]
Send = Callable[[dict[str, Any]], Awaitable[None]]


def headers(scope: Scope, name: bytes) -> list[bytes]:
    """Every value of one header."""
    return [value for key, value in scope["headers"] if key.lower() == name]


async def answer(send: Send, kind: str, status: int, body: bytes, *, extra: Iterable[tuple[bytes, bytes]] = ()) -> None:
    """A whole HTTP response; `kind` is `http` or, instead of a socket, `websocket.http`."""
    given = [(b"content-type", b"application/json"), (b"cache-control", b"no-store"), *extra]
    await send({"type": f"{kind}.response.start", "status": status, "headers": given})
    await send({"type": f"{kind}.response.body", "body": body})
