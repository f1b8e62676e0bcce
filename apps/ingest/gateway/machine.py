"""One bridge's socket: hello first, then samples, facts and heartbeats, until it ends."""

import asyncio
import logging
from contextlib import suppress
from dataclasses import dataclass, field

from apps.accounts.services import note_machine_use
from apps.ingest.gateway.asgi import Receive, Scope, Send
from apps.ingest.gateway.bridges import Connection
from apps.ingest.gateway.claims import Claimed, claim
from apps.ingest.gateway.database import CLAIMS
from apps.ingest.gateway.facts import FactsDesk
from apps.ingest.gateway.handshake import admit
from apps.ingest.gateway.live import wall_ms
from apps.ingest.gateway.running import Gateway, gateway
from apps.ingest.gateway.samples import Taking
from apps.kernel import clock
from apps.kernel.errors import NotSignedIn, Refusal, Unavailable
from apps.kernel.limits import TokenBucket
from workers.protocol import (
    VERSIONS,
    Ack,
    BadMessage,
    Facts,
    FromBridge,
    Heartbeat,
    Hello,
    Picture,
    Refused,
    Rejected,
    Report,
    States,
    Welcome,
    agreed,
    decode_from_bridge,
)

BAD_MESSAGE, SIGNED_OUT, REFUSED, SILENT, TOO_MANY, GONE, LATER = 4400, 4401, 4403, 4408, 4429, 1000, 1013
HELLO_WITHIN_S = 5.0
HEARTBEAT_S = 2.0
SILENT_AFTER_S = 3 * HEARTBEAT_S
MESSAGES_PER_SECOND, MESSAGES_BURST = 1000.0, 3000.0
REJECTIONS_PER_SECOND, REJECTIONS_BURST = 20.0, 100.0
_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Ended(Exception):
    """The socket ends with this close code."""

    code: int
    reason: str


@dataclass
class Rejections:
    """What is told of samples that were not taken: some of them, for a bridge that sends nonsense sends much of it."""

    waiting: list[Rejected] = field(default_factory=list)
    rate: TokenBucket = field(default_factory=lambda: TokenBucket(REJECTIONS_PER_SECOND, REJECTIONS_BURST))
    count: int = 0

    def __call__(self, rejected: Rejected) -> None:
        """One sample was not taken."""
        self.count += 1
        if self.rate.take():
            self.waiting.append(rejected)


async def serve(scope: Scope, receive: Receive, send: Send) -> None:
    """Speak with one machine until either side ends it."""
    await receive()  # websocket.connect
    machine = await admit(scope, send)
    if machine is None:
        return
    await send({"type": "websocket.accept"})
    here = gateway()
    connection = Connection(machine, send)
    here.bridges.opened(connection)
    talk = asyncio.create_task(_talk(here, connection, receive))
    code, reason = GONE, "the socket ended"
    try:
        await asyncio.wait({talk, connection.ending}, return_when=asyncio.FIRST_COMPLETED)
        code, reason = connection.ending.result() if connection.ending.done() else talk.result()
    except OSError:  # the peer is gone while we sent
        return
    finally:
        connection.end(code, reason)
        here.bridge_gone(connection, reason)
        talk.cancel()
        with suppress(asyncio.CancelledError, OSError):
            await talk
    if code != GONE:
        _log.info("machine socket closed: %s %s", code, reason)
        with suppress(OSError):
            await send({"type": "websocket.close", "code": code, "reason": reason})


async def _talk(here: Gateway, connection: Connection, receive: Receive) -> tuple[int, str]:
    rate = TokenBucket(MESSAGES_PER_SECOND, MESSAGES_BURST)
    try:
        hello = await _next(receive, rate, HELLO_WITHIN_S)
        if not isinstance(hello, Hello):
            raise Ended(BAD_MESSAGE, "say hello first")
        here.bridge_came(connection, hello, await _greet(here, connection, hello))
        desk, refuse = FactsDesk(connection), Rejections()
        taking = here.taking(connection, hello.boot)
        facts = asyncio.create_task(desk.run())
        try:
            while True:
                message = await _next(receive, rate, SILENT_AFTER_S)
                if connection.ending.done():
                    return connection.ending.result()
                await _take(here, connection, message, taking, desk, refuse)
        finally:
            facts.cancel()
    except Ended as ended:
        return ended.code, ended.reason


async def _take(
    here: Gateway, connection: Connection, message: FromBridge, taking: Taking, desk: FactsDesk, refuse: Rejections
) -> None:
    connection.heard = clock.monotonic()
    if isinstance(message, States):
        taking.states(message, wall_ms(), refuse)
    elif isinstance(message, Picture):
        taking.picture(message, wall_ms(), refuse)
    elif isinstance(message, Report):
        taking.report(message, wall_ms(), refuse)
    elif isinstance(message, Heartbeat):
        here.beat_of(connection, message)
        await connection.say(Ack(sequence=message.sequence, server_time_ms=wall_ms(), sent_at_ms=message.sent_at_ms))
    elif isinstance(message, Facts):
        desk.offer(message)
        here.heard_facts(connection, message)
    else:
        raise Ended(BAD_MESSAGE, "hello was said already")
    while refuse.waiting:
        await connection.say(refuse.waiting.pop(0))


async def _next(receive: Receive, rate: TokenBucket, within_s: float) -> FromBridge:
    try:
        async with asyncio.timeout(within_s):
            event = await receive()
    except TimeoutError:
        raise Ended(SILENT, "nothing was heard in time") from None
    if event["type"] == "websocket.disconnect":
        raise Ended(GONE, "the bridge closed the socket")
    if not rate.take():
        raise Ended(TOO_MANY, "too many messages")
    text = event.get("text")
    try:
        return decode_from_bridge(text if text is not None else event.get("bytes") or b"")
    except BadMessage as error:
        raise Ended(BAD_MESSAGE, str(error)[:100]) from None


async def _greet(here: Gateway, connection: Connection, hello: Hello) -> Claimed:
    """Welcome the bridge and return what it speaks for, or refuse it and end."""
    version = agreed(hello.versions)
    refused = _refusal_of(connection, hello)
    if refused is not None or version is None:
        raise await _refuse(connection, refused or _unknown_version())
    try:
        claimed = await CLAIMS.ask(claim, connection.machine, hello, here.name)
    except Unavailable as error:
        raise await _refuse(connection, Refused(code=error.code, message=error.message), LATER) from None
    except NotSignedIn as error:
        raise await _refuse(connection, Refused(code=error.code, message=error.message), SIGNED_OUT) from None
    except Refusal as error:
        raise await _refuse(connection, Refused(code=error.code, message=error.message)) from None
    here.bridges.named(connection, hello.bridge)
    with suppress(Unavailable):  # a note for people to read, nothing depends on it
        await CLAIMS.ask(note_machine_use, connection.machine)
    await connection.say(
        Welcome(
            version=version,
            heartbeat_s=HEARTBEAT_S,
            server_time_ms=wall_ms(),
            subjects=[subject for subject in hello.subjects if claimed.robot_of(subject) is not None],
            refused=claimed.claim.refused,
            resume=claimed.claim.resume,
        )
    )
    return claimed


async def _refuse(connection: Connection, refused: Refused, code: int = REFUSED) -> Ended:
    _log.warning("hello refused: %s, credential %s", refused.code, connection.machine.credential_id)
    await connection.say(refused)
    return Ended(code, refused.code)


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
