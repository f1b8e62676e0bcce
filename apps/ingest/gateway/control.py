"""A page's socket: what it watches, and Stop. Rights are asked of memory, so that Stop needs no database."""

import asyncio
import logging
from contextlib import suppress
from typing import Any
from uuid import UUID

import msgspec

from apps.ingest.gateway import people
from apps.ingest.gateway.asgi import Receive, Scope, Send, answer
from apps.ingest.gateway.database import ask
from apps.ingest.gateway.live import wall_ms
from apps.ingest.gateway.operators import SIGNED_OUT, Operator, may_watch
from apps.ingest.gateway.running import Gateway, gateway
from apps.ingest.gateway.stops import authorised
from apps.ingest.gateway.viewers import Camera, Viewer
from apps.ingest.types import FromPage, Ping, PressStop, Ring, Watch
from apps.kernel import origins
from apps.kernel.errors import Refusal, Unavailable
from apps.kernel.limits import Places, TokenBucket
from apps.kernel.permissions import require
from apps.kernel.types import Actor, ActorKind, SubjectRef

BAD_FRAME, TOO_MANY, FAULT, LATER, GONE = 4400, 4429, 1011, 1013, 1000
MESSAGES_PER_SECOND, MESSAGES_BURST = 20.0, 60.0
STOPS_PER_SECOND, STOPS_BURST = 20.0, 100.0  # beside the rate of the rest: a page that asks too much can still stop
RINGS_PER_SECOND, RINGS_BURST = 2.0, 8.0
LARGEST_FRAME = 128 * 1024
PER_PERSON = Places(64)
PER_ADDRESS = Places(256)
_DECODER = msgspec.json.Decoder(FromPage)
_log = logging.getLogger(__name__)


async def serve(scope: Scope, receive: Receive, send: Send) -> None:
    """Serve one page until it is gone."""
    await receive()  # websocket.connect
    fault = people.fault_of(scope)
    if fault is not None:
        _log.warning("control socket refused: %s", fault)
        return await answer(send, "websocket.http", 403, b'{"code":"not_allowed"}')
    address = origins.address(scope)
    if not PER_ADDRESS.take(address):
        _log.warning("control socket refused: too many from one address")
        return await answer(send, "websocket.http", 429, b'{"code":"too_many"}')
    try:
        await send({"type": "websocket.accept"})
        code, reason = await _admitted(people.session_key(scope), receive, send)
        if code != GONE:
            with suppress(OSError):
                await send({"type": "websocket.close", "code": code, "reason": reason})
    finally:
        PER_ADDRESS.give_back(address)
    return None


async def _admitted(key: str, receive: Receive, send: Send) -> tuple[int, str]:
    try:
        admitted = await ask(people.admit, key) if key else None
    except Unavailable:
        return LATER, "unavailable"
    if admitted is None:
        return SIGNED_OUT, "signed out"
    if not PER_PERSON.take(admitted.person_id):
        return TOO_MANY, "too many sockets"
    actor = Actor(ActorKind.PERSON, admitted.person_id, admitted.name, admitted.standing.roles)
    try:
        return await _converse(gateway(), key, actor, receive, send)
    finally:
        PER_PERSON.give_back(admitted.person_id)


async def _converse(here: Gateway, key: str, actor: Actor, receive: Receive, send: Send) -> tuple[int, str]:
    async def text(words: str) -> None:
        await send({"type": "websocket.send", "text": words})

    async def data(words: bytes) -> None:
        await send({"type": "websocket.send", "bytes": words})

    operator = Operator(key, actor, Viewer(here.live, text, data))
    operator.viewer.on_end = operator.end
    here.operators.add(operator)
    here.viewers.all.add(operator.viewer)
    sender = asyncio.create_task(operator.viewer.run())
    reader = asyncio.create_task(_read(here, operator, receive))
    try:
        waiting: set[asyncio.Future[Any]] = {sender, reader, operator.ending}
        done, _ = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
        if operator.ending in done:
            return operator.ending.result()
        if sender in done:
            return _fault_of(sender)
        return reader.result()
    except OSError:
        return GONE, ""
    finally:
        here.operators.discard(operator)
        here.viewers.all.discard(operator.viewer)
        operator.viewer.unwatch()
        here.links.wish()
        for task in (sender, reader):
            task.cancel()
            with suppress(asyncio.CancelledError, OSError):
                await task


def _fault_of(sender: asyncio.Task[None]) -> tuple[int, str]:
    error = sender.exception()
    if isinstance(error, OSError):
        return GONE, ""
    _log.error("a page's socket failed", exc_info=error)
    return FAULT, "fault"


async def _read(here: Gateway, operator: Operator, receive: Receive) -> tuple[int, str]:
    rate = TokenBucket(MESSAGES_PER_SECOND, MESSAGES_BURST)
    stops = TokenBucket(STOPS_PER_SECOND, STOPS_BURST)
    rings = TokenBucket(RINGS_PER_SECOND, RINGS_BURST)
    while True:
        event = await receive()
        if event["type"] == "websocket.disconnect":
            return GONE, ""
        received_ms = wall_ms()
        text = event.get("text") or ""
        if len(text) > LARGEST_FRAME:
            return BAD_FRAME, "too large"
        try:
            frame = _DECODER.decode(text)
        except (msgspec.DecodeError, UnicodeError, RecursionError):
            return BAD_FRAME, "bad frame"
        if not (stops if isinstance(frame, PressStop) else rate).take():
            return TOO_MANY, "too many messages"
        if isinstance(frame, Ring) and not rings.take():
            operator.viewer.tell(_refused("ring", "too_many", "Ask for the past less often."))
            continue
        try:
            _act(here, operator, frame, received_ms)
        except Refusal as refusal:
            operator.viewer.tell(_refused(frame.__struct_config__.tag, refusal.code, refusal.message))


def _act(here: Gateway, operator: Operator, frame: FromPage, received_ms: int) -> None:
    """Carry out what a page asks. Raises a Refusal."""
    viewer, actor = operator.viewer, operator.actor
    if isinstance(frame, Ping):
        viewer.tell({"op": "pong", "t": frame.t, "now_ms": received_ms})
    elif isinstance(frame, Watch):
        require(actor, "fleet.view", SubjectRef("site", frame.site, site_id=frame.site))
        viewer.unwatch([site_id for site_id in viewer.watched if site_id != frame.site])
        viewer.watch(frame.site, floor=frame.floor, subjects=frame.subjects, cameras=cameras_of(frame))
        here.links.wish()
    elif isinstance(frame, PressStop):
        here.spawn(here.stops.press(authorised(frame, actor, received_ms), viewer))
    else:
        subject = here.live.subjects.get(frame.subject)
        if subject is None or not may_watch(actor, subject.site.id):
            viewer.tell(_refused("ring", "not_found", "There is nothing here."))
        else:
            here.rings.send(subject, frame.seconds, viewer)


def cameras_of(frame: Watch) -> dict[UUID, list[Camera]]:
    """The cameras a page wants, by subject; named twice, the last one counts."""
    wanted: dict[UUID, dict[str, Camera]] = {}
    for picture in frame.pictures:
        wanted.setdefault(picture.subject, {})[picture.camera] = Camera(picture.camera, 1 / picture.fps)
    return {subject: list(cameras.values()) for subject, cameras in wanted.items()}


def _refused(what: object, code: str, message: str) -> dict[str, Any]:
    return {"op": "refused", "what": what, "code": code, "message": message}
