"""Bridges that send states at a fixed rate: a program that reads what to do as JSON and says what it did.

Each bridge sends one frame of its subjects' states a period, reports every two seconds, and facts that must not be lost: an
episode of one subject begins and ends each second. What was not taken is sent again, as a real bridge does.
"""

import asyncio
import json
import sys
import time
from collections import deque
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID, uuid4

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

from tests.bench.core.values import described, values_of
from workers.protocol import (
    EpisodeEnded,
    EpisodeStarted,
    Fact,
    Facts,
    FactsTaken,
    Heartbeat,
    Hello,
    Mode,
    Outcome,
    Rejected,
    Report,
    State,
    States,
    Welcome,
    decode_from_gateway,
    encode,
    pack,
)
from workers.protocol.samples import MOST_STATES

MOST_FACTS = 50
REPORT_EVERY_S = 2.0
MOST_REFUSALS = 20
FACTS_WITHIN_S = 30.0


@dataclass
class Bridge:
    """One connection."""

    url: str
    bridge: str
    credential: str
    subjects: list[str]
    numbers: list[int]
    hertz: float
    boot: UUID = field(default_factory=uuid4)
    sequence: int = 0
    states: int = 0
    late: int = 0
    rejected: list[str] = field(default_factory=list)
    facts: "deque[Fact]" = field(default_factory=deque)
    answered: asyncio.Event = field(default_factory=asyncio.Event)
    fact_sequence: int = 0
    taken: int = 0
    beats: int = 0
    reported: int = 0
    refusals: int = 0
    lost: list[str] = field(default_factory=list)

    async def run(self, ready: asyncio.Event, go: asyncio.Event, ends: list[float]) -> None:
        """Greet, again while the gateway is busy with the others, wait for the start, and send until the end.

        A connection that is lost is made again, as a real bridge does; what was sent into it may be lost, facts are not.
        """
        headers = {"Authorization": f"Bearer {self.credential}"}
        options: Any = {"compression": None, "proxy": None, "max_size": 2**20, "ping_interval": None}
        while True:
            async with connect(f"{self.url}/machine", additional_headers=headers, open_timeout=60, **options) as socket:
                welcome = await self._greet(socket)
                if isinstance(welcome, Welcome) and len(welcome.subjects) == len(self.subjects):
                    try:
                        return await self._speak(socket, ready, go, ends)
                    except ConnectionClosed as error:
                        self.lost.append(str(error)[:100])
                        continue
            self.refusals += 1
            if self.refusals > MOST_REFUSALS:
                raise RuntimeError(f"{self.bridge} was not welcomed: {welcome}")
            await asyncio.sleep(0.2 * self.refusals)

    async def _greet(self, socket: ClientConnection) -> object:
        subjects = [described(subject) for subject in self.subjects]
        hello = Hello(bridge=self.bridge, boot=self.boot, versions=[1], subjects=self.subjects, described=subjects)
        await socket.send(encode(hello))
        return decode_from_gateway(await socket.recv())

    async def _speak(self, socket: ClientConnection, ready: asyncio.Event, go: asyncio.Event, ends: list[float]) -> None:
        """Everything after the welcome, until all facts are taken."""
        beside = [asyncio.create_task(part) for part in (self._hear(socket), self._beat(socket), self._deliver(socket))]
        try:
            ready.set()
            await go.wait()
            parts = [asyncio.create_task(part(socket, ends)) for part in (self._send, self._tell, self._report)]
            beside += parts
            await asyncio.gather(*parts)
            deadline = time.monotonic() + FACTS_WITHIN_S
            while self.facts and time.monotonic() < deadline:
                await asyncio.sleep(0.1)
        finally:
            for task in beside:
                task.cancel()
            await asyncio.gather(*beside, return_exceptions=True)

    async def _send(self, socket: ClientConnection, ends: list[float]) -> None:
        period = 1 / self.hertz
        due = time.monotonic() + (self.numbers[0] % 20) / 20 * period
        while due < ends[0]:
            await asyncio.sleep(due - time.monotonic())
            self.late += time.monotonic() - due > period
            self.sequence += 1
            at_ms = time.time_ns() // 1_000_000
            for start in range(0, len(self.numbers), MOST_STATES):
                states = [
                    State(subject=place, sequence=self.sequence, at_ms=at_ms, values=values_of(number, self.sequence))
                    for place, number in enumerate(self.numbers[start : start + MOST_STATES], start)
                ]
                await socket.send(pack(States(states=states)))
                self.states += len(states)
            due += period

    async def _report(self, socket: ClientConnection, ends: list[float]) -> None:
        while time.monotonic() < ends[0]:
            self.reported += 1
            for place in range(len(self.subjects)):
                report = Report(
                    subject=place,
                    sequence=self.reported,
                    at_ms=time.time_ns() // 1_000_000,
                    mode=Mode.AUTONOMOUS,
                    task="measure",
                    activity=("reach", "grasp", "place")[self.reported % 3],
                    is_moving=True,
                )
                await socket.send(pack(report))
                await asyncio.sleep(max(0.0, min(REPORT_EVERY_S / len(self.subjects), ends[0] - time.monotonic())))

    async def _tell(self, socket: ClientConnection, ends: list[float]) -> None:
        number = 0
        while time.monotonic() < ends[0]:
            subject, episode = self.subjects[number % len(self.subjects)], uuid4()
            number += 1
            self._keep(subject, EpisodeStarted(episode=episode, task="measure", driver="expert", seed=number))
            self._keep(subject, EpisodeEnded(episode=episode, outcome=Outcome.SUCCESS, steps=number))
            await asyncio.sleep(1.0)

    def _keep(self, subject: str, body: EpisodeStarted | EpisodeEnded) -> None:
        self.fact_sequence += 1
        at_ms = time.time_ns() // 1_000_000
        self.facts.append(Fact(sequence=self.fact_sequence, at_ms=at_ms, subject=subject, body=body))

    async def _deliver(self, socket: ClientConnection) -> None:
        """Facts in order, each message after the answer to the one before, or after five seconds without one."""
        while True:
            if not self.facts:
                await asyncio.sleep(0.05)
                continue
            self.answered.clear()
            await socket.send(encode(Facts(boot=self.boot, facts=list(self.facts)[:MOST_FACTS])))
            with suppress(TimeoutError):
                await asyncio.wait_for(self.answered.wait(), timeout=5.0)

    async def _beat(self, socket: ClientConnection) -> None:
        while True:
            self.beats += 1
            await socket.send(encode(Heartbeat(sequence=self.beats, sent_at_ms=time.time_ns() // 1_000_000)))
            await asyncio.sleep(1.0)

    async def _hear(self, socket: ClientConnection) -> None:
        async for frame in socket:
            message = decode_from_gateway(frame)
            if isinstance(message, FactsTaken):
                self.taken = max(self.taken, message.sequence)
                self.answered.set()
                while self.facts and self.facts[0].sequence <= message.sequence:
                    self.facts.popleft()
            elif isinstance(message, Rejected) and len(self.rejected) < 5:
                self.rejected.append(f"{message.field}: {message.reason}")


async def drive(given: dict[str, Any]) -> dict[str, Any]:
    """All bridges at once. Says `ready` when all are welcome, waits for a line, and begins."""
    bridges = [
        Bridge(
            url=given["url"],
            bridge=one["bridge"],
            credential=one["credential"],
            subjects=one["subjects"],
            numbers=[one["first"] + place * len(given["bridges"]) for place in range(len(one["subjects"]))],
            hertz=given["hertz"],
        )
        for one in given["bridges"]
    ]
    go, ends = asyncio.Event(), [0.0]
    ready = [asyncio.Event() for _ in bridges]
    running = [asyncio.create_task(bridge.run(event, go, ends)) for bridge, event in zip(bridges, ready, strict=True)]
    waiting = asyncio.gather(*(event.wait() for event in ready))
    await asyncio.wait([waiting, *running], return_when=asyncio.FIRST_COMPLETED)
    for task in running:
        if task.done():
            task.result()
    say({"ready": len(bridges)})
    await asyncio.to_thread(sys.stdin.readline)
    began_ms, began = time.time_ns() // 1_000_000, time.monotonic()
    ends[0] = began + given["seconds"]
    go.set()
    await asyncio.gather(*running)
    return {
        "began_ms": began_ms,
        "ended_ms": began_ms + int(given["seconds"] * 1000),
        "states": sum(one.states for one in bridges),
        "late_frames": sum(one.late for one in bridges),
        "facts": sum(one.fact_sequence for one in bridges),
        "facts_taken": sum(one.taken for one in bridges),
        "lost": [words for one in bridges for words in one.lost],
        "rejected": [reason for one in bridges for reason in one.rejected][:5],
        "sequences": {one.bridge: one.sequence for one in bridges},
        "boots": {one.bridge: str(one.boot) for one in bridges},
        "cpu_s": time.process_time(),
    }


def say(words: dict[str, Any]) -> None:
    """One line."""
    sys.stdout.write(json.dumps(words) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    say(asyncio.run(drive(json.loads(sys.stdin.readline()))))
