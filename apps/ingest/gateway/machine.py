"""One bridge's socket: hello first, then heartbeats, until it ends."""

import asyncio
import logging
from contextlib import suppress
from dataclasses import dataclass

from apps.accounts.services import note_machine_use
from apps.ingest.gateway.asgi import Receive, Scope, Send
from apps.ingest.gateway.bridges import Connection, bridges
from apps.ingest.gateway.database import ask
from apps.ingest.gateway.handshake import admit
from apps.kernel import clock
from apps.kernel.errors import Unavailable
from apps.kernel.limits import TokenBucket
from workers.protocol import (
    VERSIONS,
    Ack,
    BadMessage,
    FromBridge,
    Heartbeat,
    Hello,
    Refused,
    Welcome,
    agreed,
    decode_from_bridge,
    encode,
)

BAD_MESSAGE, REFUSED, SILENT, TOO_MANY, GONE = 4400, 4403, 4408, 4429, 1000
HELLO_WITHIN_S = 5.0
HEARTBEAT_S = 5.0
SILENT_AFTER_S = 3 * HEARTBEAT_S
MESSAGES_PER_SECOND, MESSAGES_BURST = 200.0, 1000.0
_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Ended(Exception):
    """The socket ends with this close code."""

    code: int
    reason: str


async def serve(scope: Scope, receive: Receive, send: Send) -> None:
    """Speak with one machine until either side ends it."""
    await receive()  # websocket.connect
    machine = await admit(scope, send)
    if machine is None:
        return
    await send({"type": "websocket.accept"})
    here = bridges()
    connection = Connection(machine)
    here.opened(connection)
    talk = asyncio.create_task(_talk(connection, receive, send))
    try:
        await asyncio.wait({talk, connection.ending}, return_when=asyncio.FIRST_COMPLETED)
        code, reason = connection.ending.result() if connection.ending.done() else talk.result()
    except OSError:  # the peer is gone while we sent
        return
    finally:
        here.closed(connection)
        talk.cancel()
        with suppress(asyncio.CancelledError, OSError):
            await talk
    if code != GONE:
        _log.info("machine socket closed: %s %s", code, reason)
        with suppress(OSError):
            await send({"type": "websocket.close", "code": code, "reason": reason})


async def _talk(connection: Connection, receive: Receive, send: Send) -> tuple[int, str]:
    rate = TokenBucket(MESSAGES_PER_SECOND, MESSAGES_BURST)
    try:
        hello = await _next(receive, rate, HELLO_WITHIN_S)
        if not isinstance(hello, Hello):
            raise Ended(BAD_MESSAGE, "say hello first")
        await _greet(connection, hello, send)
        while True:
            message = await _next(receive, rate, SILENT_AFTER_S)
            if not isinstance(message, Heartbeat):
                raise Ended(BAD_MESSAGE, "hello was said already")
            if not connection.ending.done():
                await _say(send, Ack(sequence=message.sequence, server_time_ms=_now_ms()))
    except Ended as ended:
        return ended.code, ended.reason


async def _next(receive: Receive, rate: TokenBucket, within_s: float) -> FromBridge:
    try:
        async with asyncio.timeout(within_s):
            event = await receive()
    except TimeoutError:
        raise Ended(SILENT, "nothing was heard in time") from None
    if event["type"] == "websocket.disconnect":
        raise Ended(GONE, "")
    if not rate.take():
        raise Ended(TOO_MANY, "too many messages")
    text = event.get("text")
    try:
        return decode_from_bridge(text if text is not None else event.get("bytes") or b"")
    except BadMessage as error:
        raise Ended(BAD_MESSAGE, str(error)[:100]) from None


async def _greet(connection: Connection, hello: Hello, send: Send) -> None:
    """Welcome the bridge, or refuse it and end."""
    refused = _refusal_of(connection, hello)
    version = agreed(hello.versions)
    if refused is not None or version is None:
        code = refused.code if refused is not None else "unknown_version"
        _log.warning("hello refused: %s, credential %s", code, connection.machine.credential_id)
        await _say(send, refused or _unknown_version())
        raise Ended(REFUSED, code)
    bridges().named(connection, hello.bridge)
    with suppress(Unavailable):  # a note for people to read, nothing depends on it
        await ask(note_machine_use, connection.machine)
    await _say(
        send,
        Welcome(version=version, heartbeat_s=HEARTBEAT_S, server_time_ms=_now_ms(), subjects=hello.subjects),
    )


def _refusal_of(connection: Connection, hello: Hello) -> Refused | None:
    """Why this hello is not accepted from this credential, else None."""
    if agreed(hello.versions) is None:
        return _unknown_version()
    if hello.bridge != connection.machine.actor.name:
        return Refused(code="wrong_bridge", message="The credential is bound to another bridge.")
    if not set(hello.subjects) <= set(connection.machine.subjects):
        return Refused(code="wrong_subject", message="The credential is not bound to every subject named.")
    return None


def _unknown_version() -> Refused:
    spoken = ", ".join(str(number) for number in VERSIONS)
    return Refused(code="unknown_version", message=f"This gateway speaks {spoken}.", versions=list(VERSIONS))


async def _say(send: Send, message: Welcome | Refused | Ack) -> None:
    await send({"type": "websocket.send", "text": encode(message)})


def _now_ms() -> int:
    return int(clock.now().timestamp() * 1000)
