"""One page's socket: reads what the page asks, sends what the hub has, and holds nothing for a page that is slow.

Nothing waits in a queue: the sender takes the newest state of each followed topic at the moment the page can take it.
"""

import asyncio
import logging
from typing import Any, NamedTuple
from uuid import UUID

import msgspec
from channels.consumer import AsyncConsumer
from channels.exceptions import StopConsumer
from django.db import Error as DatabaseError

from apps.kernel.limits import Places, TokenBucket
from apps.kernel.types import Actor, ActorKind
from apps.realtime.consumers.hub import UNKNOWN, Hub, hub
from apps.realtime.permissions import refusal_of
from apps.realtime.topics import BadName, Named, UnknownTopic, parse
from apps.realtime.types import (
    MOST_TOPICS,
    Asked,
    Close,
    FromPage,
    Ping,
    Pong,
    RefusalCode,
    Refused,
    ServerFrame,
    Subscribe,
    Subscribed,
    Tick,
    Unsubscribe,
)

MESSAGES_PER_SECOND, MESSAGES_BURST = 10.0, 40.0
PER_PERSON = Places(64)
_DECODER = msgspec.json.Decoder(FromPage)
_ENCODER = msgspec.json.Encoder()
_log = logging.getLogger(__name__)


class Due(NamedTuple):
    """What brings a page to the head of one topic."""

    topic: str
    position: int
    text: str


class PageSocket(AsyncConsumer):
    """Reached only through `middleware.BrowsersOnly`, which puts `session_key` into the scope."""

    channel_layer_alias = ""  # the hub listens for all sockets; none has a channel of its own

    session_key: str
    person_id: UUID
    actor: Actor

    def __init__(self) -> None:
        self.topics: dict[str, int] = {}
        self.checked = 0
        self._hub: Hub | None = None
        self._ending: Close | None = None
        self._closed = False
        self._tick = False
        self._stirred = asyncio.Event()
        self._sender: asyncio.Task[None] | None = None
        self._one_at_a_time = asyncio.Lock()
        self._rate = TokenBucket(MESSAGES_PER_SECOND, MESSAGES_BURST)

    async def dispatch(self, message: dict[str, Any]) -> None:
        """Straight to the handler: nothing here holds a database connection that would have to be looked after."""
        await getattr(self, message["type"].replace(".", "_"))(message)

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Serve until the page is gone, then give back all that was held for it."""
        try:
            await super().__call__(scope, receive, send)
        finally:
            if self._hub is not None:
                self._hub.leave(self)
                PER_PERSON.give_back(self.person_id)
            if self._sender is not None:
                self._sender.cancel()

    async def websocket_connect(self, _message: Any) -> None:
        """Accept, so that a page can be told why it is not served."""
        await self.send({"type": "websocket.accept"})
        self.session_key = str(dict(self.scope)["session_key"])
        here = hub()
        try:
            admitted = await here.admit(self.session_key) if self.session_key else None
        except (TimeoutError, DatabaseError, OSError):
            return await self._close(Close.UNAVAILABLE)
        if admitted is None:
            return await self._close(Close.SIGNED_OUT)
        self.person_id, standing = admitted
        if not PER_PERSON.take(self.person_id):
            return await self._close(Close.TOO_MANY)
        self.actor = Actor(ActorKind.PERSON, self.person_id, roles=standing.roles)
        self._hub = here
        here.join(self)
        self._sender = asyncio.create_task(self._send_forever())
        return None

    async def websocket_receive(self, message: dict[str, Any]) -> None:
        """One frame of the page. Anything but a well-formed one ends the socket."""
        if not self._rate.take():
            return await self._close(Close.TOO_MANY)
        try:
            frame = _DECODER.decode(message.get("text") or b"")
        except (msgspec.DecodeError, UnicodeError, RecursionError):
            return await self._close(Close.BAD_FRAME)
        if isinstance(frame, Ping):
            return await self._send(Pong(frame.t))
        if isinstance(frame, Subscribe):
            return await self._subscribe(frame)
        return self._unsubscribe(frame)

    async def websocket_disconnect(self, _message: Any) -> None:
        """The page is gone."""
        raise StopConsumer

    async def _subscribe(self, frame: Subscribe) -> None:
        taken = []
        for asked in frame.topics:
            named = self._allowed(asked)
            if isinstance(named, RefusalCode):
                _log.warning("topic refused: %s to person %s: %s", named, self.person_id, ascii(asked.topic[:120]))
                await self._send(Refused(asked.topic, named))
            elif self._hub is not None:
                if named.text not in self.topics and len(self.topics) >= MOST_TOPICS:
                    return await self._close(Close.TOO_MANY)
                self._hub.follow(self, named, asked.position)
                taken.append(asked)
        if taken:
            await self._send(Subscribed(taken))
        self._stirred.set()
        return None

    def _allowed(self, asked: Asked) -> Named | RefusalCode:
        try:
            named = parse(asked.topic)
        except BadName:
            return RefusalCode.BAD_NAME
        except UnknownTopic:
            return RefusalCode.UNKNOWN
        return refusal_of(self.actor, named) or named

    def _unsubscribe(self, frame: Unsubscribe) -> None:
        for asked in frame.topics:
            if self._hub is not None and asked.topic in self.topics:
                self._hub.unfollow(self, asked.topic)

    def end(self, code: Close) -> None:
        """Deliver nothing more and close."""
        if self._ending is None:
            self._ending = code
            self._stirred.set()

    def stir(self, *, tick: bool = False) -> None:
        """Something may be there to deliver."""
        self._tick = self._tick or tick
        if self._tick or self._ending is not None or self._next() is not None:
            self._stirred.set()

    async def _send_forever(self) -> None:
        try:
            while True:
                await self._stirred.wait()
                self._stirred.clear()
                while self._ending is None and (due := self._next()) is not None:
                    text, self.topics[due.topic] = due.text, due.position
                    await self._send_text(text)
                if self._ending is not None:
                    return await self._close(self._ending)
                if self._tick and self._hub is not None:
                    self._tick = False
                    await self._send(Tick(self._hub.now_ms, self._heads()))
        except OSError:  # the page is gone or was dropped; the receiving side ends the socket
            return None
        except Exception:  # noqa: BLE001 - the page is told to come again
            _log.exception("a page's socket failed")
            return await self._close(Close.FAULT)

    def _next(self) -> Due | None:
        """The newest state of the next topic that the page does not show yet, made no later than our last check."""
        for topic, position in self.topics.items():
            followed = self._hub.topics.get(topic) if self._hub is not None else None
            if followed is None or followed.head in (UNKNOWN, position) or followed.made > self.checked:
                continue
            text = followed.frame(followed.audience(self.actor), position)
            if text is not None:
                return Due(topic, followed.head, text)
        return None

    def _heads(self) -> dict[str, int]:
        known = self._hub.topics if self._hub is not None else {}
        return {text: known[text].head for text in self.topics if text in known and known[text].head != UNKNOWN}

    async def _send(self, frame: ServerFrame) -> None:
        await self._send_text(_ENCODER.encode(frame).decode())

    async def _send_text(self, text: str) -> None:
        async with self._one_at_a_time:
            if not self._closed:
                await self.send({"type": "websocket.send", "text": text})

    async def _close(self, code: Close) -> None:
        if self._hub is not None:
            self._hub.leave(self)
        async with self._one_at_a_time:
            if not self._closed:
                self._closed = True
                await self.send({"type": "websocket.close", "code": int(code)})
