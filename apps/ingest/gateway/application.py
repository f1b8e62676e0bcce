"""Sorts what comes in, and begins and ends what runs by itself."""

from apps.ingest.gateway import control, health, linked, machine, posts
from apps.ingest.gateway.asgi import Receive, Scope, Send, answer
from apps.ingest.gateway.running import gateway

SOCKETS = {"/machine": machine.serve, "/control": control.serve, "/link": linked.serve}


async def application(scope: Scope, receive: Receive, send: Send) -> None:
    """Probes and Stop over HTTP, machines, pages and other gateways over WebSocket, nothing else."""
    if scope["type"] == "http":
        serve = posts.serve if scope["path"] == "/stop" else health.serve
        await serve(scope, receive, send)
    elif scope["type"] == "websocket":
        talk = SOCKETS.get(scope["path"])
        if talk is None:
            await receive()
            await answer(send, "websocket.http", 404, b'{"code":"not_found"}')
        else:
            await talk(scope, receive, send)
    elif scope["type"] == "lifespan":
        await _live(receive, send)


async def _live(receive: Receive, send: Send) -> None:
    """As long as the server runs."""
    await receive()
    here = gateway()
    await send({"type": "lifespan.startup.complete"})
    await receive()
    await here.end()
    await send({"type": "lifespan.shutdown.complete"})
