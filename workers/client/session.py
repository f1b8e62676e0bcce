"""One socket, from hello to its end."""

import asyncio
import logging
import time
from collections.abc import Coroutine
from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING, Any

from websockets.asyncio.client import ClientConnection

from workers.client.signal import Signal
from workers.client.slots import batches
from workers.protocol import (
    Ack,
    BadMessage,
    ClearStop,
    Facts,
    FactsTaken,
    FromGateway,
    Heartbeat,
    Message,
    Order,
    Refused,
    Rejected,
    StopNow,
    Welcome,
    decode_from_gateway,
    encode,
    pack,
)

if TYPE_CHECKING:
    from workers.client.client import Client

HELLO_WITHIN_S = 10.0
SEND_WITHIN_S = 15.0
TAKEN_WITHIN_S, TAKEN_WITHIN_MOST_S = 5.0, 30.0
SILENT_BEATS = 3
BEAT_SHARE = 0.6  # of the time in which a beat must come
QUICK_BEATS, QUICK_BEAT_S = 4, 0.25  # at first, to know the console's clock soon
BETWEEN_FLUSHES_S = 0.01
LOST_AFTER = 3  # answers without progress to the same facts, until we believe that the console lost what came before
_log = logging.getLogger(__name__)


@dataclass
class Ended(Exception):
    """The socket is of no more use. `lasting` faults will most likely be met again at the next try."""

    reason: str
    lasting: bool = False


class Session:
    """Speaks over one open socket until it ends; `run` raises Ended, or ConnectionClosed."""

    def __init__(self, client: "Client", socket: ClientConnection) -> None:
        self._client, self._socket = client, socket
        self._heard_at = time.monotonic()
        self._beats: dict[int, float] = {}  # when a heartbeat went out, by its sequence
        self._complained: set[tuple[int, str, str]] = set()
        self._answer, self._answered = 0, Signal()  # how far the facts asked about were taken

    async def run(self) -> None:
        """Greet, then say and hear until the end."""
        await self._greet()
        parts = (self._hear(), self._beat(), self._send_facts(), self._send_samples(), self._be_cut())
        await _until_one_ends(*parts)

    async def _greet(self) -> None:
        asked = time.monotonic()
        await self._say(self._client.hello())
        try:
            async with asyncio.timeout(HELLO_WITHIN_S):
                answer = self._read(await self._socket.recv())
        except TimeoutError:
            raise Ended("the gateway did not answer the hello") from None
        if isinstance(answer, Refused):
            spoken = f" It speaks {', '.join(map(str, answer.versions))}." if answer.versions else ""
            raise Ended(f"refused: {answer.code}: {answer.message}{spoken}", lasting=True)
        if not isinstance(answer, Welcome):
            raise Ended(f"the gateway answered the hello with {type(answer).__name__}", lasting=True)
        client = self._client
        client.console.learn(
            sent=asked, received=time.monotonic(), console_ms=answer.server_time_ms
        )  # until a beat tells better
        client.spool.resume(answer.resume)
        client.link.accepted = frozenset(answer.subjects)
        client.link.heartbeat_s, client.link.fault = answer.heartbeat_s, ""
        client.slots.clear()
        client.link.connected, client.link.welcomes = True, client.link.welcomes + 1
        _log.info("connected; speaks for %d of %d subjects", len(answer.subjects), len(client.subjects))
        for refused in answer.refused:
            _log.error("does not speak for %s: %s: %s", refused.subject, refused.code, refused.message)
        client.listener.welcomed(answer)

    async def _hear(self) -> None:
        async for frame in self._socket:
            self._heard_at = time.monotonic()
            self._take(self._read(frame))

    def _read(self, frame: str | bytes) -> FromGateway:
        try:
            message = decode_from_gateway(frame)
        except BadMessage as error:
            raise Ended(f"the gateway sent what is no message: {error}", lasting=True) from None
        if isinstance(message, StopNow):  # nothing comes before it, not even a line in the record
            self._client.listener.stop_now(message)
        self._client.record.write("heard", message)
        return message

    def _take(self, message: FromGateway) -> None:
        client = self._client
        match message:
            case Ack():
                sent = self._beats.pop(message.sequence, None)
                self._beats = {beat: at for beat, at in self._beats.items() if beat > message.sequence}
                if sent is not None:
                    client.console.learn(sent=sent, received=self._heard_at, console_ms=message.server_time_ms)
            case FactsTaken():
                client.spool.taken(message.boot, message.sequence)
                self._answer = message.sequence
                self._answered.set()
            case ClearStop():
                client.listener.clear_stop(message)
            case Order():
                client.listener.ordered(message)
            case Rejected():
                if (which := (message.subject, message.field, message.reason)) not in self._complained:
                    self._complained.add(which)  # the same would follow ten times a second
                    _log.warning("a sample was not taken: subject %d, %s: %s", *which)
                client.listener.rejected(message)
            case StopNow():
                pass  # was done while it was read
            case _:
                raise Ended(f"the gateway sent {type(message).__name__} after its welcome", lasting=True)

    async def _beat(self) -> None:
        client, link = self._client, self._client.link
        for number in count():
            if time.monotonic() - self._heard_at > SILENT_BEATS * link.heartbeat_s:
                raise Ended("nothing was heard of the gateway in time")
            sequence = client.next_beat()
            beat = Heartbeat(
                sequence=sequence,
                sent_at_ms=client.device.now_ms(),
                offset_ms=client.console.offset_ms(client.device),
                round_trip_ms=client.console.round_trip_ms,
                spooled=client.spool.waiting,
            )
            self._beats[sequence] = time.monotonic()
            await self._say(beat)
            await asyncio.sleep(QUICK_BEAT_S if number < QUICK_BEATS else link.heartbeat_s * BEAT_SHARE)

    async def _send_facts(self) -> None:
        client, within, stuck = self._client, TAKEN_WITHIN_S, 0
        while True:
            if not await self._synced():
                continue
            facts = client.spool.pending()
            if facts is None:
                await client.facts_wait.wait()
                continue
            await self._say(facts)
            progress = await self._progress(facts, within)
            within = TAKEN_WITHIN_S if progress else min(TAKEN_WITHIN_MOST_S, within * 2)
            stuck = stuck + 1 if self._answer < facts.facts[0].sequence - 1 and progress is False else 0
            if stuck >= LOST_AFTER:
                client.spool.lost(facts.boot, self._answer)
                stuck = 0

    async def _synced(self) -> bool:
        try:
            await asyncio.to_thread(self._client.spool.sync)
        except OSError as error:
            _log.error("facts cannot be made safe, so none is sent: %s", error)
            await asyncio.sleep(1.0)
            return False
        return True

    async def _progress(self, facts: Facts, within: float) -> bool | None:
        """True when some of them were taken, False for an answer that took none, None without one in time."""
        try:
            async with asyncio.timeout(within):
                await self._answered.wait()
        except TimeoutError:
            return None
        if self._answer >= facts.facts[0].sequence:
            return True
        await asyncio.sleep(1.0)
        return False

    async def _send_samples(self) -> None:
        client = self._client
        while True:
            await client.samples_wait.wait()
            places = {place for place, one in enumerate(client.subjects) if one.subject in client.link.accepted}
            for report in client.slots.take_reports():
                if report.subject in places:
                    await self._say(report, packed=True)
            states = [state for state in client.slots.take_states() if state.subject in places]
            for batch in batches(client.shape(states)):
                await self._say(batch, packed=True)
            picture = client.slots.take_picture()
            if picture is not None:
                if picture.subject in places:
                    await self._say(picture, packed=True)
                client.samples_wait.set()  # there may be another
            await asyncio.sleep(BETWEEN_FLUSHES_S)

    async def _be_cut(self) -> None:
        while time.monotonic() >= self._client.cut_until:
            await self._client.cut.wait()
        self._socket.transport.abort()
        raise Ended("the link was cut on purpose")

    async def _say(self, message: Message, *, packed: bool = False) -> None:
        self._client.record.write("said", message)
        try:
            async with asyncio.timeout(SEND_WITHIN_S):
                await self._socket.send(pack(message) if packed else encode(message))
        except TimeoutError:
            raise Ended("the gateway took nothing in time") from None


async def _until_one_ends(*parts: Coroutine[Any, Any, None]) -> None:
    """Run all until the first ends, end the others, and raise what it raised."""
    tasks = [asyncio.create_task(part) for part in parts]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()
        results = await asyncio.gather(*tasks, return_exceptions=True)
    for result in results:
        if isinstance(result, Exception):
            raise result
