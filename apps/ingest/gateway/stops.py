"""Stop: sent first, spooled second, journaled third.

Nothing on the way to the bridge needs a database, Valkey or a disk. Who may press is asked of memory before; what a robot
says of it comes back by its report and its fact; what was missed is sent again by `reconcile`.
"""

import asyncio
import logging
from collections import OrderedDict
from collections.abc import Collection, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any
from uuid import UUID

import msgspec

from apps.control.services import record_stop
from apps.fleet.types import ROBOT
from apps.ingest.gateway.bridges import Connection
from apps.ingest.gateway.database import STOPS
from apps.ingest.gateway.live import Subject, wall_ms
from apps.ingest.gateway.spool import Pressed, Spool
from apps.ingest.gateway.viewers import Viewer
from apps.ingest.types import PressStop, RelayStop
from apps.kernel import clock
from apps.kernel.errors import Refusal, Unavailable
from apps.kernel.permissions import require
from apps.kernel.types import Actor, ActorKind, Role, SubjectRef
from workers.protocol import Facts, StopLatched, StopNow, StopReleased

if TYPE_CHECKING:
    from apps.ingest.gateway.running import Gateway

SENT, LATCHED, RELEASED, RECORDED, UNREACHABLE, REFUSED = "sent", "latched", "released", "recorded", "unreachable", "refused"
SEND_WITHIN_S = 1.0
LINK_WITHIN_S = 1.0
MOST_REMEMBERED = 1000
RETRY_S, LONGEST_RETRY_S, FAILED_RETRY_S = 0.5, 5.0, 60.0
Told = dict[str, Any]
_log = logging.getLogger(__name__)


def authorised(frame: PressStop, actor: Actor, received_ms: int) -> Pressed:
    """What somebody pressed, if they may. Raises NotAllowed, NotFound."""
    _require(actor, frame.site)
    assert actor.id is not None  # noqa: S101 - a person has one
    return Pressed(
        stop=frame.stop,
        site=frame.site,
        subjects=sorted(set(frame.subjects)) if frame.subjects is not None else None,
        pressed_at_ms=frame.pressed_at_ms or received_ms,
        received_ms=received_ms,
        person=actor.id,
        name=actor.name,
        roles=sorted(actor.roles_at(frame.site)),
    )


def _require(actor: Actor, site_id: UUID) -> None:
    require(actor, "control.stop", SubjectRef("site", site_id, site_id=site_id))


class Stops:
    """Stops of this process: on their way, spooled, remembered for a while."""

    def __init__(self, gateway: "Gateway", spool: Spool) -> None:
        self._gateway, self._spool = gateway, spool
        self._disk = ThreadPoolExecutor(1, thread_name_prefix="gateway-spool")
        self._fresh: OrderedDict[UUID, tuple[UUID, float, Viewer | None]] = OrderedDict()  # site, when, who is told
        self._latched: dict[UUID, frozenset[UUID]] = {}  # what each subject says, as far as pages were told
        self._owed: dict[tuple[UUID, UUID, str], set[UUID]] = {}  # what subjects said since the last beat
        self._stirred = asyncio.Event()
        self._not_before: dict[UUID, float] = {}  # of those whose recording failed

    async def press(self, pressed: Pressed, viewer: Viewer | None = None) -> Sequence[Told]:
        """Send a Stop wherever it is to be sent, keep it, and return what became of it for each subject so far."""
        self._remember(pressed.stop, pressed.site, viewer)
        targets = self._targets(pressed.site, pressed.subjects)
        sending = asyncio.ensure_future(self._send(pressed.stop, targets, pressed.name))
        self._gateway.links.relay(pressed)
        keeping = asyncio.ensure_future(self._keep(pressed))
        sent = await sending
        self._tell(pressed.stop, pressed.site, SENT, sent)
        answered = await self._gateway.links.answers(pressed.stop, LINK_WITHIN_S) - sent
        unreachable = ({one.id for one in targets} | set(pressed.subjects or ())) - sent - answered
        self._tell(pressed.stop, pressed.site, UNREACHABLE, unreachable)
        await keeping
        names = [subject.subject_name for subject in targets if subject.id in sent | answered]
        if pressed.stop in self._spool.pending and names:
            self._spool.pending[pressed.stop] = msgspec.structs.replace(pressed, sent_to=names)
        self._stirred.set()
        states = [*((one, SENT) for one in sorted(sent | answered)), *((one, UNREACHABLE) for one in sorted(unreachable))]
        return [{"subject": subject_id, "state": state} for subject_id, state in states]

    async def relayed(self, frame: RelayStop, link: Viewer) -> None:
        """A Stop that another gateway authorised and keeps: send it to what is connected here, and answer."""
        self._remember(frame.stop, frame.site, link)
        targets = self._targets(frame.site, frame.subjects)
        sent = await self._send(frame.stop, targets, frame.by)
        self._tell(frame.stop, frame.site, SENT, sent)
        link.tell({"op": "relayed", "stop": frame.stop, "sent": sorted(sent)})

    def told_elsewhere(self, frame: Told) -> None:
        """Another gateway's event of a Stop, for pages that are open here."""
        fresh = self._fresh.get(UUID(frame["stop"]))
        also = (fresh[2],) if fresh is not None and fresh[2] is not None else ()
        self._gateway.viewers.tell(UUID(frame["site"]), frame, *also, to_links=False)

    def pressed_lately(self, stop: UUID, within_s: float) -> bool:
        """Whether this Stop was pressed, here or through a link, a moment ago."""
        fresh = self._fresh.get(stop)
        return fresh is not None and clock.monotonic() - fresh[1] < within_s

    @property
    def unrecorded(self) -> Collection[Pressed]:
        """Stops that the database does not know yet."""
        return list(self._spool.pending.values())

    async def send_again(self, stop: UUID, subjects: Sequence[Subject], by: str) -> None:
        """Send to subjects that do not say that they hold."""
        await self._send(stop, subjects, by)

    def reported(self, subject: Subject) -> None:
        """A subject said anew what holds it."""
        self._says(subject, frozenset(subject.latched))

    def heard(self, connection: Connection, message: Facts) -> None:
        """Facts of Stops are told at once; that they are recorded is another matter."""
        spoken_for = {subject.subject_name: subject for subject in connection.subjects if subject is not None}
        for fact in message.facts:
            subject = spoken_for.get(fact.subject)
            if subject is None or subject.source is not connection:
                continue
            holds = self._latched.get(subject.id, frozenset())
            if isinstance(fact.body, StopLatched):
                self._says(subject, holds | {fact.body.stop})
            elif isinstance(fact.body, StopReleased):
                self._says(subject, holds - {fact.body.stop})

    async def journal_forever(self) -> None:
        """Record what is spooled, as soon as the database answers."""
        await asyncio.get_running_loop().run_in_executor(self._disk, self._spool.load)
        wait_s = RETRY_S
        while True:
            if not self._spool.pending:
                self._stirred.clear()
                await self._stirred.wait()
            due = [one for one in self.unrecorded if clock.monotonic() >= self._not_before.get(one.stop, 0.0)]
            if not due:
                await asyncio.sleep(RETRY_S)
            for pressed in due:
                try:
                    await self._record(pressed)
                    self._not_before.pop(pressed.stop, None)
                    wait_s = RETRY_S
                except Unavailable:
                    await asyncio.sleep(wait_s)
                    wait_s = min(LONGEST_RETRY_S, wait_s * 2)
                except Exception:  # noqa: BLE001 - one that cannot be recorded must not keep the others from it
                    _log.exception("stop %s was sent, and recording it fails", pressed.stop)
                    self._not_before[pressed.stop] = clock.monotonic() + FAILED_RETRY_S

    async def _record(self, pressed: Pressed) -> None:
        try:
            await STOPS.ask(record, pressed, self._gateway.name)
        except Unavailable:
            raise
        except Refusal as refusal:
            _log.error("stop %s was sent and cannot be recorded: %s", pressed.stop, refusal.message)
            self._tell(pressed.stop, pressed.site, REFUSED, None, refusal.code)
        else:
            self._tell(pressed.stop, pressed.site, RECORDED, None)
        with suppress(OSError):
            await asyncio.get_running_loop().run_in_executor(self._disk, self._spool.done, pressed.stop)
        self._spool.pending.pop(pressed.stop, None)

    async def _keep(self, pressed: Pressed) -> None:
        try:
            await asyncio.get_running_loop().run_in_executor(self._disk, self._spool.keep, pressed)
        except OSError as error:  # sent all the same; memory keeps it until the database has it
            _log.error("stop %s could not be spooled: %s", pressed.stop, error.strerror)
        self._stirred.set()

    def _remember(self, stop: UUID, site_id: UUID, viewer: Viewer | None) -> None:
        self._fresh[stop] = (site_id, clock.monotonic(), viewer)
        self._fresh.move_to_end(stop)
        while len(self._fresh) > MOST_REMEMBERED:
            self._fresh.popitem(last=False)

    def _targets(self, site_id: UUID, subjects: Collection[UUID] | None) -> list[Subject]:
        site = self._gateway.live.sites.get(site_id)
        if site is None:
            return []
        if subjects is None:
            return list(site.subjects)
        found = (self._gateway.live.find(subject_id, site_id) for subject_id in subjects)
        return [one for one in found if one is not None]

    async def _send(self, stop: UUID, subjects: Sequence[Subject], by: str) -> set[UUID]:
        """Send to those whose bridge is connected here; which ones it was sent to."""
        by_connection: dict[Connection, list[Subject]] = {}
        for subject in subjects:
            if isinstance(subject.source, Connection):
                by_connection.setdefault(subject.source, []).append(subject)
        issued_at_ms = wall_ms()
        saying = {
            asyncio.ensure_future(
                connection.say(
                    StopNow(stop=stop, subjects=[one.subject_name for one in theirs], issued_at_ms=issued_at_ms, by=by[:200])
                )
            ): theirs
            for connection, theirs in by_connection.items()
        }
        if not saying:
            return set()
        done, late = await asyncio.wait(saying, timeout=SEND_WITHIN_S)
        for task in late:  # it is written already and goes out when the bridge reads; we only stop waiting
            task.add_done_callback(_ignore)
        return {subject.id for task in done if task.exception() is None for subject in saying[task]}

    def _says(self, subject: Subject, holds: frozenset[UUID]) -> None:
        before = self._latched.get(subject.id, frozenset())
        if holds:
            self._latched[subject.id] = holds
        else:
            self._latched.pop(subject.id, None)
        for state, stops in ((LATCHED, holds - before), (RELEASED, before - holds)):
            for stop in stops:
                self._owed.setdefault((stop, subject.site.id, state), set()).add(subject.id)

    def beat(self) -> None:
        """Tell what subjects said since the last time, one frame for all that said the same."""
        owed, self._owed = self._owed, {}
        for (stop, site_id, state), subjects in owed.items():
            self._tell(stop, site_id, state, subjects)

    def _tell(self, stop: UUID, site_id: UUID, state: str, subjects: Collection[UUID] | None, code: str = "") -> None:
        if subjects is not None and not subjects:
            return
        fresh = self._fresh.get(stop)
        also = (fresh[2],) if fresh is not None and fresh[2] is not None else ()
        named = sorted(subjects or ())
        frame = {"op": "stop", "stop": stop, "site": site_id, "state": state, "at_ms": wall_ms(), "subjects": named}
        self._gateway.viewers.tell(site_id, frame | {"subject": named[0] if len(named) == 1 else None, "code": code}, *also)


def record(pressed: Pressed, gateway: str) -> None:
    """Record one Stop with the roles by which it was let through. Raises what `record_stop` raises."""
    actor = Actor(
        ActorKind.PERSON, pressed.person, pressed.name, {pressed.site: frozenset(Role(role) for role in pressed.roles)}
    )
    named = pressed.subjects
    record_stop(
        actor=actor,
        stop_id=pressed.stop,
        site_id=pressed.site,
        subjects=None if named is None else [SubjectRef(ROBOT, one, site_id=pressed.site) for one in named],
        pressed_at=_moment(pressed.pressed_at_ms),
        received_at=_moment(pressed.received_ms),
        gateway=gateway,
        sent_to=[_ref(name, pressed.site) for name in pressed.sent_to],
    )


def _ref(name: str, site_id: UUID) -> SubjectRef:
    kind, _, identifier = name.partition(":")
    return SubjectRef(kind, UUID(identifier), site_id=site_id)


def _moment(milliseconds: int) -> datetime:
    """A time that can be written, whatever a page's clock or an old line on disk says."""
    return datetime.fromtimestamp(max(0, min(milliseconds, 4 * 10**12)) / 1000, UTC)


def _ignore(task: "asyncio.Future[None]") -> None:
    if not task.cancelled():
        task.exception()
