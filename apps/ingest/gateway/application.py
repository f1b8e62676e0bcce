"""Sorts what comes in."""

from apps.ingest.gateway import health, machine
from apps.ingest.gateway.asgi import Receive, Scope, Send, answer

SOCKETS = {"/machine": machine.serve}


async def application(scope: Scope, receive: Receive, send: Send) -> None:
    """Probes over HTTP, machines over WebSocket, nothing else."""
    if scope["type"] == "http":
        await health.probe(scope, send)
    elif scope["type"] == "websocket":
        serve = SOCKETS.get(scope["path"])
        if serve is None:
            await receive()
            await answer(send, "websocket.http", 404, b'{"code":"not_found"}')
        else:
            await serve(scope, receive, send)
