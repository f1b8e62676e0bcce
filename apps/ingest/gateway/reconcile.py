"""One look at the database, several times a second: who may still be here, and what was missed.

Everything that could have been lost on the way is compared with the truth and sent again: credentials and sessions that
ended, bridges that came back elsewhere, Stops that a robot does not hold yet or holds no longer, orders for the next seconds.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING
from uuid import UUID

from apps.accounts.selectors import Standing, machines_holding, standing_of
from apps.control.selectors import active_stops, cleared_among
from apps.control.types import ActiveStop
from apps.fleet.selectors import bridge_epochs, connected_to, open_orders
from apps.fleet.services import release_bridge
from apps.fleet.types import OpenOrder, subject_name
from apps.ingest.gateway.bridges import REPLACED, SIGNED_OUT, Connection
from apps.ingest.gateway.database import STORE, WATCH
from apps.ingest.gateway.live import Subject, wall_ms
from apps.ingest.gateway.operators import Operator
from apps.kernel import clock
from apps.kernel.types import system_actor
from workers.protocol import ClearStop, Order

if TYPE_CHECKING:
    from apps.ingest.gateway.running import Gateway

EVERY_S = 0.4
STRAYS_EVERY_S = 6.0
AGAIN_AFTER_S = 1.0  # what was sent and not answered is sent again
FRESH_S = 10.0  # a Stop pressed this lately is not cleared by what the database said a moment ago
MOST_SENT = 20_000


@dataclass(frozen=True)
class Question:
    """What to look up."""

    credentials: Sequence[UUID]
    sessions: Mapping[str, UUID]
    bridges: Sequence[UUID]
    sites: Sequence[UUID]
    subjects: Sequence[UUID]
    latched: frozenset[UUID]


@dataclass(frozen=True)
class Answer:
    """What the database says."""

    holding: set[UUID] = field(default_factory=set)
    standings: Mapping[str, Standing] = field(default_factory=dict)
    epochs: Mapping[UUID, int] = field(default_factory=dict)
    active: Sequence[ActiveStop] = ()
    cleared: set[UUID] = field(default_factory=set)
    orders: Sequence[OpenOrder] = ()
    now: datetime | None = None  # by the database's clock, where there are orders


def ask(question: Question) -> Answer:
    """All of it, in a handful of queries whose number does not grow."""
    active = active_stops(question.sites) if question.sites else []
    held = question.latched - {one.id for one in active}
    orders = open_orders(question.subjects) if question.subjects else ()
    return Answer(
        holding=machines_holding(question.credentials) if question.credentials else set(),
        standings=standing_of(question.sessions.items()) if question.sessions else {},
        epochs=bridge_epochs(question.bridges) if question.bridges else {},
        active=active,
        cleared=cleared_among(held) if held else set(),
        orders=orders,
        now=clock.shared() if orders else None,
    )


class Reconciler:
    """Compares this process with the database."""

    def __init__(self, gateway: "Gateway") -> None:
        self._gateway = gateway
        self._sent: dict[tuple[str, UUID, UUID, int], float] = {}
        self._strays: dict[UUID, tuple[UUID, int]] = {}

    async def look(self) -> None:
        """Ask, and act on the answer."""
        here = self._gateway
        connections = list(here.bridges.connections)
        operators = list(here.operators)
        claimed = {one.claim.bridge_id: one for one in here.bridges.claimed() if one.claim is not None}
        subjects = [one for connection in claimed.values() for one in connection.subjects if one is not None]
        if not connections and not operators:
            return
        question = Question(
            credentials=[one.machine.credential_id for one in connections],
            sessions={one.session_key: person for one in operators if (person := one.actor.id) is not None},
            bridges=list(claimed),
            sites=sorted({one.site.id for one in subjects}),
            subjects=[one.id for one in subjects],
            latched=frozenset(stop for one in subjects for stop in one.latched),
        )
        answer = await WATCH.ask(ask, question)
        self._rights(connections, answer)
        self._sessions(operators, answer.standings)
        self._bridges(claimed, answer.epochs)
        self._stops(subjects, answer)
        self._orders(answer)

    async def strays(self) -> None:
        """Note the loss of bridges that an earlier process of this name had, and that never came back to any."""
        here = self._gateway
        recorded = await STORE.ask(connected_to, here.name)
        ours = {one.claim.bridge_id for one in here.bridges.claimed() if one.claim is not None}
        strays = {bridge_id: found for bridge_id, found in recorded.items() if bridge_id not in ours}
        for bridge_id, (site_id, epoch) in strays.items():
            if self._strays.get(bridge_id) == (site_id, epoch):  # twice in a row: it is not just being welcomed
                await STORE.ask(
                    release_bridge,
                    actor=system_actor(f"gateway {here.name}"),
                    site_id=site_id,
                    bridge_id=bridge_id,
                    epoch=epoch,
                    reason="it did not come back after the gateway was started again",
                )
        self._strays = strays

    def hurry(self) -> None:
        """A bridge came: tell it at once what it may have missed."""
        self._gateway.spawn(self._gateway.guarded(self.look))

    @staticmethod
    def _rights(connections: Iterable[Connection], answer: Answer) -> None:
        for connection in connections:
            if connection.machine.credential_id not in answer.holding:
                connection.end(SIGNED_OUT, "the credential no longer holds")

    def _sessions(self, operators: Iterable[Operator], standings: Mapping[str, Standing]) -> None:
        for operator in operators:
            standing = standings.get(operator.session_key)
            if standing is None or standing.person_id != operator.actor.id:
                operator.end(SIGNED_OUT, "signed out")
            else:
                operator.hold(standing.roles)

    @staticmethod
    def _bridges(claimed: Mapping[UUID, Connection], epochs: Mapping[UUID, int]) -> None:
        for bridge_id, connection in claimed.items():
            if connection.claim is not None and epochs.get(bridge_id, 0) > connection.claim.epoch:
                connection.end(REPLACED, "a newer connection of this bridge")

    def _stops(self, subjects: Sequence[Subject], answer: Answer) -> None:
        """Send Stops that a robot does not say it holds, and clear those that it still holds."""
        stops = self._gateway.stops
        pending = [
            ActiveStop(
                id=one.stop,
                site_id=one.site,
                is_whole_site=one.subjects is None,
                subjects=frozenset(subject_name(who) for who in one.subjects or ()),
                by=one.name,
            )
            for one in stops.unrecorded
        ]
        by_site: dict[UUID, list[Subject]] = {}
        for subject in subjects:
            by_site.setdefault(subject.site.id, []).append(subject)
        for stop in [*answer.active, *pending]:
            missing = [
                one
                for one in by_site.get(stop.site_id, ())
                if stop.holds(one.subject_name) and stop.id not in one.latched and self._is_due("stop", stop.id, one)
            ]
            if missing:
                self._gateway.spawn(stops.send_again(stop.id, missing, stop.by))
        held = {one.stop for one in stops.unrecorded} | {one.id for one in answer.active}
        for stop_id in answer.cleared - held:
            if stops.pressed_lately(stop_id, FRESH_S):
                continue
            for subject in subjects:
                if stop_id in subject.latched and self._is_due("clear", stop_id, subject):
                    self._say(subject, ClearStop(stop=stop_id, subjects=[subject.subject_name]))

    def _orders(self, answer: Answer) -> None:
        for order in answer.orders:
            subject = self._gateway.live.subjects.get(order.robot_id)
            if subject is None or answer.now is None or not self._is_due("order", order.id, subject):
                continue
            left = order.valid_until - answer.now
            # Bridges know our clock, and it may be wrong: what is told is how long is left, by it.
            until_ms = wall_ms() + int(left.total_seconds() * 1000)
            self._say(
                subject,
                Order(
                    order=order.id,
                    subject=subject.subject_name,
                    name=order.name,
                    arguments=dict(order.arguments),
                    valid_until_ms=until_ms,
                ),
            )

    def _say(self, subject: Subject, message: ClearStop | Order) -> None:
        if isinstance(subject.source, Connection):
            self._gateway.spawn(subject.source.say_if_there(message))

    def _is_due(self, what: str, which: UUID, subject: Subject) -> bool:
        """Whether this was not sent a moment ago over the same socket."""
        now = clock.monotonic()
        key = (what, which, subject.id, id(subject.source))
        if now - self._sent.get(key, -AGAIN_AFTER_S) < AGAIN_AFTER_S:
            return False
        if len(self._sent) > MOST_SENT:
            self._sent = {one: when for one, when in self._sent.items() if now - when < AGAIN_AFTER_S}
        self._sent[key] = now
        return True
