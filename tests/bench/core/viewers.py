"""Pages without a browser: they watch the floor over its socket, check every message, and measure how old what they show is.

A program that reads what to do as JSON and says what it found. Every row must be what its subject really measured (anybody can
compute it from subject and sequence), newer than the one before, and complete; the age of each shown value is looked at ten
times a second, by the clock that both sides share.
"""

import asyncio
import json
import random
import sys
import time
from typing import Any

from websockets.asyncio.client import ClientConnection, connect

from tests.bench.core.values import HEADLINES, values_of

LOOK_EVERY_S = 0.1
LEFT_OUT_S = 3.0  # of the beginning: the first states are on their way


class Viewer:
    """One page."""

    def __init__(self, given: dict[str, Any]) -> None:
        self.given = given
        self.numbers: dict[str, int] = {subject.partition(":")[2]: place for place, subject in enumerate(given["subjects"])}
        self.by_place: dict[int, int] = {}
        self.newest: dict[int, tuple[int, int]] = {}  # by number: sequence, device_ms
        self.frames = self.rows = self.reports = 0
        self.faults: list[str] = []
        self.begun_ms = float("inf")  # before that, the floor holds what an earlier load left
        self.arrival_ages: list[float] = []
        self.shown_ages: list[float] = []
        self.bytes = 0

    async def run(self, ready: asyncio.Event, go: asyncio.Event) -> None:
        """Watch until the time is over."""
        headers = {"Cookie": self.given["cookie"]}
        options: Any = {"compression": None, "proxy": None, "max_size": 2**23, "ping_interval": None}
        url, origin = f"{self.given['url']}/control", self.given["origin"]
        async with connect(url, origin=origin, additional_headers=headers, open_timeout=60, **options) as socket:
            await socket.send(json.dumps({"op": "watch", "site": self.given["site"], "floor": True}))
            hearing = asyncio.create_task(self._hear(socket))
            ready.set()
            await go.wait()
            self.begun_ms = time.time_ns() / 1e6
            ends = time.monotonic() + self.given["seconds"]
            await asyncio.sleep(min(LEFT_OUT_S, self.given["seconds"] / 2))
            while time.monotonic() < ends:
                await asyncio.sleep(LOOK_EVERY_S)
                if hearing.done():
                    self._fault(f"the socket of a page ended: {hearing.exception()}")
                    return
                self._look()
            hearing.cancel()

    def _look(self) -> None:
        now_ms = time.time_ns() / 1e6
        looked_at = random.choices(list(self.newest.values()), k=50) if self.newest else []
        self.shown_ages += [now_ms - device_ms for _, device_ms in looked_at]

    async def _hear(self, socket: ClientConnection) -> None:
        async for frame in socket:
            now_ms = time.time_ns() / 1e6
            self.bytes += len(frame)
            message = json.loads(frame)
            match message["op"]:
                case "floor":
                    self.frames += 1
                    for row in message["rows"]:
                        if row[2] >= self.begun_ms:
                            self._check(row, now_ms)
                case "subjects":
                    for entry in message["list"]:
                        self.by_place[entry["i"]] = self.numbers[entry["id"]]
                case "reports" | "heard":
                    self.reports += 1
                case other:
                    self._fault(f"{other}: {str(message)[:100]}")

    def _check(self, row: list[Any], now_ms: float) -> None:
        place, sequence, device_ms, received_ms, headline = row
        self.rows += 1
        number = self.by_place.get(place)
        if number is None:
            return self._fault(f"a row of place {place}, which nobody named")
        wanted = values_of(number, sequence)
        if headline != [wanted[channel] for channel in HEADLINES]:
            self._fault(f"subject {number} did not measure {headline} in its state {sequence}")
        before = self.newest.get(number, (-1, 0))
        if sequence < before[0] or device_ms < before[1]:  # the newest may come twice, an older one never
            self._fault(f"subject {number} went from state {before[0]} to {sequence}")
        if not device_ms - 50 <= received_ms <= now_ms + 50:
            self._fault(f"subject {number} was received at {received_ms}, made at {device_ms}, shown at {now_ms:.0f}")
        self.newest[number] = (sequence, device_ms)
        self.arrival_ages.append(now_ms - device_ms)
        return None

    def _fault(self, words: str) -> None:
        if len(self.faults) < 20:
            self.faults.append(words)


async def watch(given: dict[str, Any]) -> dict[str, Any]:
    """All pages at once."""
    viewers = [Viewer(given) for _ in range(given["viewers"])]
    go, ready = asyncio.Event(), [asyncio.Event() for _ in viewers]
    running = [asyncio.create_task(one.run(event, go)) for one, event in zip(viewers, ready, strict=True)]
    opened = asyncio.gather(*(event.wait() for event in ready))
    await asyncio.wait([opened, *running], return_when=asyncio.FIRST_COMPLETED)
    for task in running:
        if task.done():
            task.result()
    say({"ready": len(viewers)})
    await asyncio.to_thread(sys.stdin.readline)
    go.set()
    await asyncio.gather(*running)
    for one in viewers:
        if len(one.newest) != len(given["subjects"]):
            one.faults.append(f"{len(one.newest)} of {len(given['subjects'])} subjects were shown")
    return {
        "frames": sum(one.frames for one in viewers),
        "rows": sum(one.rows for one in viewers),
        "bytes": sum(one.bytes for one in viewers),
        "faults": [fault for one in viewers for fault in one.faults],
        "shown_ages": sorted(age for one in viewers for age in one.shown_ages),
        "arrival_ages": sorted(random.sample(ages := [a for one in viewers for a in one.arrival_ages], min(len(ages), 50_000))),
        "cpu_s": time.process_time(),
    }


def say(words: dict[str, Any]) -> None:
    """One line."""
    sys.stdout.write(json.dumps(words) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    say(asyncio.run(watch(json.loads(sys.stdin.readline()))))
