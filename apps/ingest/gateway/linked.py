"""The accepting end of a link: another gateway watches for its pages, and passes Stops on.

Whoever knows the shared secret is one of us: nothing else is asked of it.
"""

import asyncio
import hmac
import logging
from contextlib import suppress
from typing import Any
from uuid import UUID

import msgspec
from django.conf import settings

from apps.ingest.gateway.asgi import Receive, Scope, Send, answer, headers
from apps.ingest.gateway.live import wall_ms
from apps.ingest.gateway.running import Gateway, gateway
from apps.ingest.gateway.viewers import Camera, Viewer
from apps.ingest.types import FromLink, Ping, RelayRing, RelayStop, WatchAll, WatchedSite

SHORTEST_SECRET = 32
SILENT, BAD_FRAME, GONE = 4408, 4400, 1000
SILENT_AFTER_S = 10.0
_DECODER = msgspec.json.Decoder(FromLink)
_log = logging.getLogger(__name__)


def is_one_of_us(scope: Scope) -> bool:
    """Whether the other end knows the secret. Without one that is long enough there are no links."""
    given = headers(scope, b"authorization")
    secret = settings.LINK_SECRET
    if len(secret) < SHORTEST_SECRET or len(given) != 1 or headers(scope, b"cookie") or headers(scope, b"origin"):
        return False
    return hmac.compare_digest(given[0], f"Bearer {secret}".encode())


async def serve(scope: Scope, receive: Receive, send: Send) -> None:
    """Serve another gateway until it is gone."""
    await receive()  # websocket.connect
    if not is_one_of_us(scope):
        _log.warning("link refused")
        return await answer(send, "websocket.http", 403, b'{"code":"not_allowed"}')
    await send({"type": "websocket.accept"})
    here = gateway()
    ending: asyncio.Future[tuple[int, str]] = asyncio.get_running_loop().create_future()

    async def text(words: str) -> None:
        await send({"type": "websocket.send", "text": words})

    async def data(words: bytes) -> None:
        await send({"type": "websocket.send", "bytes": words})

    viewer = Viewer(here.live, text, data, own=here.name)
    viewer.on_end = lambda code, reason: None if ending.done() else ending.set_result((code, reason))
    here.viewers.all.add(viewer)
    tasks: set[asyncio.Future[Any]] = {
        asyncio.ensure_future(viewer.run()),
        asyncio.ensure_future(_read(here, viewer, receive)),
        ending,
    }
    code, reason = GONE, ""
    try:
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        code, reason = next(iter(done)).result() or (GONE, "")
    except OSError:
        return None
    finally:
        here.viewers.all.discard(viewer)
        viewer.unwatch()
        for task in tasks:
            task.cancel()
            with suppress(asyncio.CancelledError, OSError):
                await task
    with suppress(OSError):
        await send({"type": "websocket.close", "code": code, "reason": reason})
    return None


async def _read(here: Gateway, viewer: Viewer, receive: Receive) -> tuple[int, str]:
    while True:
        try:
            async with asyncio.timeout(SILENT_AFTER_S):
                event = await receive()
        except TimeoutError:
            return SILENT, "nothing was heard in time"
        if event["type"] == "websocket.disconnect":
            return GONE, ""
        try:
            frame = _DECODER.decode(event.get("text") or "")
        except (msgspec.DecodeError, UnicodeError, RecursionError):
            return BAD_FRAME, "bad frame"
        if isinstance(frame, Ping):
            viewer.tell({"op": "pong", "t": frame.t, "now_ms": wall_ms()})
        elif isinstance(frame, WatchAll):
            _watch(viewer, frame.sites)
        elif isinstance(frame, RelayStop):
            here.spawn(here.stops.relayed(frame, viewer))
        elif isinstance(frame, RelayRing):
            subject = here.live.subjects.get(frame.subject)
            if subject is not None:
                here.rings.send(subject, frame.seconds, viewer)


def _watch(viewer: Viewer, sites: list[WatchedSite]) -> None:
    wanted = {one.site: one for one in sites}
    viewer.unwatch([site_id for site_id in viewer.watched if site_id not in wanted])
    for site_id, one in wanted.items():
        cameras: dict[UUID, list[Camera]] = {}
        for picture in one.pictures:
            cameras.setdefault(picture.subject, []).append(Camera(picture.camera, 1 / picture.fps))
        viewer.watch(site_id, floor=one.floor, subjects=one.subjects, cameras=cameras)
