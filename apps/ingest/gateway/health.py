"""Probes. Alive means that this process answers; ready means that a machine could sign in now."""

import msgspec

from apps.ingest.gateway.asgi import Receive, Scope, Send, answer
from apps.ingest.gateway.database import ask
from apps.ingest.selectors import ask_database
from apps.kernel.errors import Unavailable


async def serve(scope: Scope, _receive: Receive, send: Send) -> None:
    """Answer one HTTP request: /healthz, /readyz, or 404."""
    if scope["method"] not in {"GET", "HEAD"}:
        return await answer(send, "http", 405, b"{}", extra=[(b"allow", b"GET, HEAD")])
    if scope["path"] == "/healthz":
        return await answer(send, "http", 200, b'{"status":"ok"}')
    if scope["path"] == "/readyz":
        return await _ready(send)
    return await answer(send, "http", 404, b'{"code":"not_found"}')


async def _ready(send: Send) -> None:
    try:
        await ask(ask_database)
    except Unavailable as refusal:
        body = {"status": "unavailable", "checks": {"database": refusal.message}}
        return await answer(send, "http", 503, msgspec.json.encode(body), extra=[(b"retry-after", b"5")])
    return await answer(send, "http", 200, b'{"status":"ok","checks":{"database":"ok"}}')
