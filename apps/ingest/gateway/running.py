"""One gateway: what it holds, and what it does by itself as long as it runs."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import suppress
from math import isfinite
from typing import Any
from uuid import UUID

from django.conf import settings

from apps.fleet.services import note_gateway, release_bridge
from apps.fleet.types import ROBOT
from apps.ingest.gateway import conditions, reconcile, storing
from apps.ingest.gateway.bridges import Bridges, Connection
from apps.ingest.gateway.cameras import Cameras
from apps.ingest.gateway.claims import Claimed, about
from apps.ingest.gateway.database import STORE
from apps.ingest.gateway.links import Links
from apps.ingest.gateway.live import Live, Subject, of_sources
from apps.ingest.gateway.operators import Operator
from apps.ingest.gateway.rings import Rings
from apps.ingest.gateway.samples import Taking
from apps.ingest.gateway.spool import Spool
from apps.ingest.gateway.stops import Stops
from apps.ingest.gateway.viewers import Viewers
from apps.kernel.errors import Unavailable
from apps.kernel.types import SubjectRef, system_actor
from apps.telemetry.recording import Recorder
from workers.protocol import Facts, Heartbeat, Hello

BEAT_S = 0.1
OFFSET_MOVED_MS = 20.0
_log = logging.getLogger(__name__)


class Gateway:
    """Everything one process holds. Made where its loop runs; `begin` starts what runs by itself."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.live = Live()
        self.bridges = Bridges()
        self.recorder = Recorder()
        self.cameras = Cameras(self.live)
        self.viewers = Viewers(self.live, self.recorder)
        self.links = Links(self)
        self.stops = Stops(self, Spool(settings.DATA / "gateway" / name))
        self.reconciler = reconcile.Reconciler(self)
        self.conditions = conditions.Conditions(self)
        self.storing = storing.Storing(self)
        self.rings = Rings(self)
        self.operators: set[Operator] = set()
        self._tasks: set[asyncio.Task[Any]] = set()
        self._failing: set[str] = set()
        self.live.on_report = self.stops.reported

    def begin(self) -> None:
        """Start what runs by itself."""
        for work, every_s in (
            (self._beat, BEAT_S),
            (self.reconciler.look, reconcile.EVERY_S),
            (self.reconciler.strays, reconcile.STRAYS_EVERY_S),
            (self.conditions.look, conditions.EVERY_S),
            (self.storing.blocks, storing.BLOCKS_EVERY_S),
            (self.storing.reports, storing.REPORTS_EVERY_S),
            (self._say_alive, storing.REPORTS_EVERY_S),
        ):
            self.spawn(self._every(every_s, work))
        self.spawn(self.stops.journal_forever())
        self.links.begin()

    async def end(self) -> None:
        """Stop what runs by itself and store what is still open."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self.storing.everything()

    def spawn(self, work: Coroutine[Any, Any, Any]) -> None:
        """Run beside everything else, and keep the task until it is done."""
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._done)

    def _done(self, task: asyncio.Task[Any]) -> None:
        self._tasks.discard(task)
        error = None if task.cancelled() else task.exception()
        if error is not None:
            _log.error("something that ran beside failed", exc_info=error)

    @property
    def has_database(self) -> bool:
        """Whether the database answered the last time it was asked."""
        return not self._failing

    def taking(self, connection: Connection, boot: UUID) -> Taking:
        """What takes the samples of one connection."""
        return Taking(self.live, self.cameras, self.recorder, connection, connection.subjects, boot)

    def bridge_came(self, connection: Connection, hello: Hello, claimed: Claimed) -> None:
        """The hello was answered: from now on this connection speaks for its subjects."""
        claim = connection.claim = claimed.claim
        connection.boot = hello.boot
        subjects: list[Subject | None] = []
        for text in hello.subjects:
            robot = claimed.robot_of(text)
            if robot is None:
                subjects.append(None)
                continue
            subject = self.live.subject(SubjectRef(ROBOT, robot.id, site_id=claim.site_id))
            self.live.describe(subject, about(robot, hello.bridge, self.name))
            self.recorder.describe(subject.id, claimed.layouts[robot.id], subject.width)
            self.live.speak(subject, connection, hello.boot)
            subjects.append(subject)
        connection.subjects = subjects
        self.conditions.found(claim, [one for one in subjects if one is not None])
        self.reconciler.hurry()

    def bridge_gone(self, connection: Connection, reason: str) -> None:
        """The socket ended: nobody speaks for its subjects until somebody else does."""
        self.bridges.closed(connection)
        for subject in of_sources(self.live, connection):
            self.live.silent(subject, connection)
            self.cameras.forget(subject)
        if connection.claim is not None:
            self.spawn(self._release(connection, reason))

    def beat_of(self, connection: Connection, message: Heartbeat) -> None:
        """The bridge lives; note how far its clock is from ours."""
        for subject in connection.subjects:
            if subject is None or message.offset_ms is None or subject.source is not connection:
                continue
            if not isfinite(message.offset_ms):  # unknown, however it is said
                continue
            if subject.offset_ms is None or abs(subject.offset_ms - message.offset_ms) > OFFSET_MOVED_MS:
                subject.offset_ms = round(message.offset_ms, 1)
                self.live.told(subject)

    def heard_facts(self, connection: Connection, message: Facts) -> None:
        """What a robot says of Stops is shown at once; that it is recorded follows."""
        self.stops.heard(connection, message)

    async def _beat(self) -> None:
        self.stops.beat()
        self.live.beat()
        self.viewers.beat()

    async def _say_alive(self) -> None:
        await STORE.ask(note_gateway, name=self.name)

    async def _release(self, connection: Connection, reason: str) -> None:
        claim = connection.claim
        assert claim is not None  # noqa: S101 - asked by the caller
        for _ in range(30):
            with suppress(Unavailable):
                await STORE.ask(
                    release_bridge,
                    actor=system_actor(f"gateway {self.name}"),
                    site_id=claim.site_id,
                    bridge_id=claim.bridge_id,
                    epoch=claim.epoch,
                    reason=reason,
                )
                return
            await asyncio.sleep(2.0)

    async def guarded(self, work: Callable[[], Awaitable[None]]) -> bool:
        """Do the work once; whether it could be done. One failure ends nothing, and is told once until it works again."""
        name = work.__qualname__
        try:
            await work()
        except Unavailable:  # open sockets work on without the database
            if name not in self._failing:
                _log.warning("%s waits for the database", name)
        except Exception:  # noqa: BLE001 - what runs by itself goes on, whatever one round met
            if name not in self._failing:
                _log.exception("%s failed", name)
        else:
            self._failing.discard(name)
            return True
        self._failing.add(name)
        return False

    async def _every(self, seconds: float, work: Callable[[], Awaitable[None]]) -> None:
        while True:
            await asyncio.sleep(seconds)
            await self.guarded(work)


_gateways: dict[Any, Gateway] = {}


def gateway() -> Gateway:
    """The gateway of this process, made and begun at its start, or at the first socket."""
    loop = asyncio.get_running_loop()
    if loop not in _gateways:
        _gateways.clear()
        _gateways[loop] = Gateway(settings.GATEWAY_NAME)
        _gateways[loop].begin()
    return _gateways[loop]
