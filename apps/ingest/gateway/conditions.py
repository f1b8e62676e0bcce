"""Once a second: what is wrong with what we hear, told to alarms as conditions that began or ended.

Judged from memory; the database is asked only when something changed, and before a bridge is called lost: it may have come
back at another gateway.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING
from uuid import UUID

from apps.alarms.services import look_around, set_conditions
from apps.alarms.types import DEFINITIONS, Condition, Steadied
from apps.fleet.selectors import bridge_epochs
from apps.fleet.types import Claim
from apps.ingest.gateway.bridges import Connection
from apps.ingest.gateway.cameras import BLACK, FOREIGN, FROZEN
from apps.ingest.gateway.database import STORE
from apps.ingest.gateway.live import LIVE, STALE, Subject
from apps.kernel import clock
from apps.kernel.types import SubjectRef, system_actor

if TYPE_CHECKING:
    from apps.ingest.gateway.running import Gateway

EVERY_S = 1.0
AROUND_EVERY = 5  # looks
STALE_AFTER_S = 3.0
QUIET_AFTER_S = 0.6  # a state is due ten times a second: by then one is missing, though three seconds make it stale
STILL_AFTER_S = 1.2  # the same of pictures, twice a second
LOST, STALE_STATE = "bridge_lost", "state_stale"
_CAMERAS = {"camera_frozen": FROZEN, "camera_black": BLACK, "camera_foreign": FOREIGN}
NAMES = (LOST, STALE_STATE, *_CAMERAS)


@dataclass
class Watched:
    """One condition of one subject: what is seen of it, made steady, and what was said of it."""

    steady: Steadied
    said: bool | None = None


class Conditions:
    """What this process says of the subjects that it hears, or heard last."""

    def __init__(self, gateway: "Gateway") -> None:
        self._gateway = gateway
        self._actor = system_actor(f"gateway {gateway.name}")
        self._claims: dict[UUID, Claim] = {}  # by subject: the claim under which we hear it, or heard it last
        self._watched: dict[tuple[str, UUID], Watched] = {}
        self._looks = 0

    def found(self, claim: Claim, subjects: Iterable[Subject]) -> None:
        """A bridge speaks for these: what was said of them before is not known, and is said anew."""
        for subject in subjects:
            self._claims[subject.id] = claim
            for name in NAMES:
                self._watched[name, subject.id] = Watched(Steadied(DEFINITIONS[name]))

    def lost(self, claim: Claim, subjects: Iterable[Subject]) -> None:
        """Its socket ended; the next look asks whether it came back elsewhere."""
        for subject in subjects:
            self._claims[subject.id] = claim

    async def look(self) -> None:
        """Judge everything, and say what changed."""
        now, at = clock.monotonic(), clock.now()
        self._gateway.cameras.sweep()
        subjects = [one for key in self._claims if (one := self._gateway.live.subjects.get(key)) is not None]
        self._link(subjects, now)
        await self._forget_moved(subjects)
        changed: list[tuple[Watched, Condition]] = []
        for subject in subjects:
            changed += self._changes(subject, now, at)
        if changed:
            await STORE.ask(set_conditions, actor=self._actor, conditions=[condition for _, condition in changed])
            for watched, condition in changed:
                watched.said = condition.active
        self._looks += 1
        if self._looks % AROUND_EVERY == 0 and self._gateway.has_database:
            await STORE.ask(look_around, actor=self._actor)

    def _link(self, subjects: Sequence[Subject], now: float) -> None:
        """Show what is stale at once: pages must not wait for an alarm."""
        for subject in subjects:
            if isinstance(subject.source, Connection):
                is_stale = subject.width > 0 and _age(subject, now) > STALE_AFTER_S
                self._gateway.live.linked(subject, STALE if is_stale else LIVE)

    async def _forget_moved(self, subjects: Sequence[Subject]) -> None:
        """Subjects that another gateway hears now are its to judge."""
        for subject in subjects:
            if subject.source is not None and not isinstance(subject.source, Connection):
                self._forget(subject)
        silent = {self._claims[one.id].bridge_id for one in subjects if one.source is None and one.id in self._claims}
        unsaid = {
            claim.bridge_id
            for key, claim in self._claims.items()
            if claim.bridge_id in silent and self._watched[LOST, key].said is not True
        }
        if not unsaid:
            return
        epochs = await STORE.ask(bridge_epochs, sorted(unsaid))
        for subject in subjects:
            claim = self._claims.get(subject.id)
            if claim is not None and subject.source is None and epochs.get(claim.bridge_id, claim.epoch) > claim.epoch:
                self._forget(subject)

    def _forget(self, subject: Subject) -> None:
        self._claims.pop(subject.id, None)
        for name in NAMES:
            self._watched.pop((name, subject.id), None)

    def _changes(self, subject: Subject, now: float, at: datetime) -> Iterable[tuple[Watched, Condition]]:
        claim = self._claims.get(subject.id)
        if claim is None:
            return
        cause = SubjectRef("bridge", claim.bridge_id, site_id=claim.site_id)
        for name in NAMES:
            watched = self._watched[name, subject.id]
            seen, detail = _seen(name, subject, now)
            active = watched.steady.step(seen, now)
            if active != watched.said:
                yield (
                    watched,
                    Condition(definition=name, subject=subject.ref, active=active, at=at, detail=detail[:200], cause=cause),
                )


def _seen(name: str, subject: Subject, now: float) -> tuple[bool, str]:
    """Whether a condition is seen at this moment, and a detail for people."""
    is_here = subject.source is not None
    if name == LOST:
        return not is_here, subject.about.bridge
    if name == STALE_STATE:
        age = _age(subject, now)
        return is_here and subject.width > 0 and age > QUIET_AFTER_S, f"no state for {age:.0f} s"
    fault = _CAMERAS[name]
    cameras = [
        camera
        for camera, shown in subject.pictures.items()
        if shown.jpeg and (shown.fault == fault or (fault == FROZEN and not shown.fault and now - shown.since > STILL_AFTER_S))
    ]
    return is_here and bool(cameras), ", ".join(cameras)


def _age(subject: Subject, now: float) -> float:
    """Seconds since the newest state, or since a bridge spoke for the subject."""
    return now - max(subject.seen, subject.since)
