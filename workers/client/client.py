"""One bridge's connection to the console, kept up by a thread of its own. Everything here may be called from any thread."""

import asyncio
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

from workers.client.address import socket_url
from workers.client.clock import ConsoleClock, DeviceClock
from workers.client.link import Link, Listener
from workers.client.reconnect import keep_connected
from workers.client.record import Record
from workers.client.signal import Signal
from workers.client.slots import Slots
from workers.client.spool import Spool
from workers.protocol import Described, Hello, Picture, Report, State
from workers.protocol.facts import AnyBody
from workers.protocol.versions import VERSIONS

ENDING_WITHIN_S = 5.0


@dataclass(frozen=True)
class Identity:
    """Where to, and as whom. `url` is the gateway's address; the credential never appears in a log."""

    url: str
    bridge: str
    credential: str
    software: str = ""

    def __repr__(self) -> str:
        return f"{self.bridge} at {self.url}"


class Client:
    """Speaks for `subjects`. Samples are newest-wins; facts lie in `folder` until the console has committed them.

    `shape` may change a batch of states before it is sent: the place for faults that a demonstration injects.
    """

    def __init__(
        self, identity: Identity, subjects: Sequence[Described], listener: Listener, *, folder: Path, log: Path | None = None
    ) -> None:
        """Raises OSError where the folder or the log cannot be used, ValueError for an address that is none."""
        self.identity, self.listener = identity, listener
        self.url = socket_url(identity.url)
        self.boot: UUID = uuid4()
        self.subjects = list(subjects)
        self._places = {described.subject: place for place, described in enumerate(subjects)}
        self.device, self.console = DeviceClock(), ConsoleClock()
        self.spool, self.slots = Spool(folder, self.boot), Slots()
        self.record, self.link = Record(log), Link()
        self.shape: Callable[[list[State]], list[State]] = lambda states: states
        self.cut_until = 0.0  # monotonic; see `cut_for`
        self._sequences: defaultdict[tuple[str, int, str], int] = defaultdict(int)
        self._lock, self._facts = threading.Lock(), threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._main: asyncio.Task[None] | None = None
        self.samples_wait, self.facts_wait, self.cut = Signal(), Signal(), Signal()
        self._thread = threading.Thread(target=self._run, name="client", daemon=True)

    def hello(self) -> Hello:
        """What this bridge says first."""
        return Hello(
            bridge=self.identity.bridge,
            boot=self.boot,
            versions=list(VERSIONS),
            subjects=[one.subject for one in self.subjects],
            described=self.subjects,
            software=self.identity.software,
        )

    def start(self) -> None:
        """Connect, now and whenever the connection is lost."""
        self._thread.start()

    def stop(self) -> None:
        """Close the socket; facts that were not taken stay on disk for the next start."""
        if self._loop is not None and self._main is not None and self._thread.is_alive():
            self._loop.call_soon_threadsafe(self._main.cancel)
        if self._thread.is_alive():
            self._thread.join(ENDING_WITHIN_S)
        self.spool.close()
        self.record.close()

    def fact(self, subject: str, body: AnyBody, *, at_ms: int | None = None, urgent: bool = False) -> tuple[UUID, int]:
        """Keep a fact on disk and send it soon; returns its boot and sequence. Raises SpoolFull."""
        at = self.device.now_ms() if at_ms is None else at_ms
        with self._facts:  # lines of the record stand in the order of the sequences
            boot, sequence = self.spool.append(subject=subject, at_ms=at, body=body, urgent=urgent)
            self.record.write("kept", boot=boot, sequence=sequence, subject=subject, at_ms=at, body=body)
        self.facts_wait.set()
        return boot, sequence

    def state(self, subject: str, values: Sequence[float | None], *, at_ms: int | None = None) -> None:
        """Offer a state; `flush` sends it. A value that is not finite is no measurement: it is sent as unknown."""
        place, sequence, at = self._next("state", subject, at_ms)
        known = [value if value is not None and isfinite(value) else None for value in values]
        self.slots.put_state(State(subject=place, sequence=sequence, at_ms=at, values=known))

    def report(self, subject: str, *, at_ms: int | None = None, **doing: Any) -> None:
        """Offer a report, with the fields of `Report`; `flush` sends it."""
        place, sequence, at = self._next("report", subject, at_ms)
        self.slots.put_report(Report(subject=place, sequence=sequence, at_ms=at, **doing))

    def picture(self, subject: str, camera: str, jpeg: bytes, *, at_ms: int | None = None) -> None:
        """Offer a picture; `flush` sends it."""
        place, sequence, at = self._next("picture", subject, at_ms, camera)
        self.slots.put_picture(Picture(subject=place, camera=camera, sequence=sequence, at_ms=at, jpeg=jpeg))

    def flush(self) -> None:
        """Send what was offered."""
        self.samples_wait.set()

    def cut_for(self, seconds: float) -> None:
        """Lose the link, without a word, for this long: a fault that a demonstration injects."""
        self.cut_until = time.monotonic() + seconds
        self.cut.set()

    def next_beat(self) -> int:
        """Sequence of the next heartbeat; rises within this boot, over all its sockets."""
        return self._count("beat", 0)

    def _next(self, kind: str, subject: str, at_ms: int | None, camera: str = "") -> tuple[int, int, int]:
        place = self._places[subject]
        return place, self._count(kind, place, camera), self.device.now_ms() if at_ms is None else at_ms

    def _count(self, kind: str, place: int, camera: str = "") -> int:
        with self._lock:
            self._sequences[kind, place, camera] += 1
            return self._sequences[kind, place, camera]

    def _run(self) -> None:
        asyncio.run(self._connect())

    async def _connect(self) -> None:
        self._loop = asyncio.get_running_loop()
        for signal in (self.samples_wait, self.facts_wait, self.cut):
            signal.bind()
        self._main = asyncio.create_task(keep_connected(self))
        try:
            await self._main
        except asyncio.CancelledError:
            return
