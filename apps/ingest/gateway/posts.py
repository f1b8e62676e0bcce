"""`POST /stop`: the same Stop for a page that has no socket. Its origin and its body keep other people's pages out."""

import logging
from typing import Any
from uuid import UUID

import msgspec

from apps.ingest.gateway import people
from apps.ingest.gateway.asgi import Receive, Scope, Send, answer
from apps.ingest.gateway.database import ask
from apps.ingest.gateway.live import wall_ms
from apps.ingest.gateway.running import Gateway, gateway
from apps.ingest.gateway.stops import authorised
from apps.ingest.types import MOST_STOPPED, Milliseconds, PressStop
from apps.kernel import origins
from apps.kernel.errors import NotAllowed, NotFound, Refusal, Unavailable
from apps.kernel.limits import TokenBucket
from apps.kernel.types import Actor, ActorKind

LARGEST_BODY = 64 * 1024
STOPS_PER_SECOND, STOPS_BURST, MOST_BUCKETS = 5.0, 30.0, 5000
_STATUS = {NotFound: 404, NotAllowed: 403, Unavailable: 503}
_log = logging.getLogger(__name__)
_buckets: dict[UUID, TokenBucket] = {}


class _Body(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    stop: UUID
    site: UUID
    subjects: list[UUID] | None = None
    pressed_at_ms: Milliseconds = 0


_DECODER = msgspec.json.Decoder(_Body)


async def serve(scope: Scope, receive: Receive, send: Send) -> None:
    """Answer one request."""
    fault = people.fault_of(scope)
    if fault is not None:
        _log.warning("post of a stop refused: %s", fault)
        return await _answer(send, 403, {"code": "not_allowed", "message": "This comes from no page of ours."})
    origin = origins.only(scope, b"origin")
    if scope["method"] == "OPTIONS":
        allowed = [(b"access-control-allow-methods", b"POST"), (b"access-control-allow-headers", b"content-type")]
        return await answer(send, "http", 204, b"", extra=[*_cors(origin), *allowed])
    if scope["method"] != "POST":
        return await answer(send, "http", 405, b"{}", extra=[*_cors(origin), (b"allow", b"POST, OPTIONS")])
    received_ms = wall_ms()
    status, body = await _press(scope, receive, received_ms)
    return await _answer(send, status, body, origin)


async def _press(scope: Scope, receive: Receive, received_ms: int) -> tuple[int, dict[str, Any]]:
    if not _is_json(scope):
        return 415, {"code": "invalid", "message": "Send JSON."}
    try:
        asked = _DECODER.decode(await _read(receive))
        if asked.subjects is not None and not 1 <= len(asked.subjects) <= MOST_STOPPED:
            raise ValueError("the subjects are wrong")
    except (msgspec.MsgspecError, UnicodeError, RecursionError, ValueError):
        return 400, {"code": "invalid", "message": "This is no Stop."}
    here = gateway()
    try:
        actor = await _actor(here, people.session_key(scope))
        if actor is None:
            return 401, {"code": "not_signed_in", "message": "Sign in first."}
        if not _may_press_now(actor):
            return 429, {"code": "too_many", "message": "Too many Stops at once; those before were sent."}
        frame = PressStop(**msgspec.structs.asdict(asked))
        told = await here.stops.press(authorised(frame, actor, received_ms))
    except Refusal as refusal:
        return _STATUS.get(type(refusal), 403), {"code": refusal.code, "message": refusal.message}
    return 202, {"stop": asked.stop, "site": asked.site, "subjects": told}


def _is_json(scope: Scope) -> bool:
    """A form of another page cannot say so without asking us first."""
    return origins.only(scope, b"content-type").partition(b";")[0].strip().lower() == b"application/json"


async def _actor(here: Gateway, key: str) -> Actor | None:
    """Who presses. A session with a socket open here is known from that, whose rights are looked at all the time: a Stop does
    not wait for a database then. Raises Unavailable for another one, where the database does not answer."""
    known = next((one.actor for one in here.operators if one.session_key == key), None) if key else None
    if known is not None:
        return known
    admitted = await ask(people.admit, key) if key else None
    if admitted is None:
        return None
    return Actor(ActorKind.PERSON, admitted.person_id, admitted.name, admitted.standing.roles)


def _may_press_now(actor: Actor) -> bool:
    assert actor.id is not None  # noqa: S101 - a person has one
    if len(_buckets) > MOST_BUCKETS:
        _buckets.clear()
    return _buckets.setdefault(actor.id, TokenBucket(STOPS_PER_SECOND, STOPS_BURST)).take()


async def _read(receive: Receive) -> bytes:
    body = b""
    while True:
        event = await receive()
        if event["type"] != "http.request":
            raise ValueError("the page is gone")
        body += event.get("body", b"")
        if len(body) > LARGEST_BODY:
            raise ValueError("too large")
        if not event.get("more_body"):
            return body


def _cors(origin: bytes) -> list[tuple[bytes, bytes]]:
    """Only for the one origin that was found to be ours."""
    given = [(b"access-control-allow-origin", origin), (b"access-control-allow-credentials", b"true"), (b"vary", b"origin")]
    return given if origin else []


async def _answer(send: Send, status: int, body: dict[str, Any], origin: bytes = b"") -> None:
    await answer(send, "http", status, msgspec.json.encode(body), extra=_cors(origin))
