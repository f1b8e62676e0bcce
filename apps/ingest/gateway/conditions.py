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


class Judged:
    """One subject: the claim under which we hear it, or heard it last, and each of its conditions.

    `is_calm` when nothing was seen at the last look, and that was said: as long as nothing is seen, nothing is to do.
    """

    __slots__ = ("claim", "is_calm", "watched")

    def __init__(self, claim: Claim) -> None:
        self.claim, self.is_calm = claim, False
        self.watched = {name: Watched(Steadied(DEFINITIONS[name])) for name in NAMES}


class Conditions:
    """What this process says of the subjects that it hears, or heard last."""

    def __init__(self, gateway: "Gateway") -> None:
        self._gateway = gateway
        self._actor = system_actor(f"gateway {gateway.name}")
        self._judged: dict[UUID, Judged] = {}  # by subject
        self._looks = 0

    def found(self, claim: Claim, subjects: Iterable[Subject]) -> None:
        """A bridge speaks for these: what was said of them before is not known, and is said anew."""
        for subject in subjects:
            self._judged[subject.id] = Judged(claim)

    async def look(self) -> None:
        """Judge everything, and say what changed."""
        now, at = clock.monotonic(), clock.now()
        self._gateway.cameras.sweep()
        subjects = [one for key in self._judged if (one := self._gateway.live.subjects.get(key)) is not None]
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
        silent = [one for one in subjects if one.source is None and one.id in self._judged]
        unsaid = {found.claim.bridge_id for one in silent if (found := self._judged[one.id]).watched[LOST].said is not True}
        if not unsaid:
            return
        epochs = await STORE.ask(bridge_epochs, sorted(unsaid))
        for subject in silent:
            judged = self._judged.get(subject.id)
            if judged is None or subject.source is not None:
                continue
            if epochs.get(judged.claim.bridge_id, judged.claim.epoch) > judged.claim.epoch:
                self._forget(subject)

    def _forget(self, subject: Subject) -> None:
        self._judged.pop(subject.id, None)

    def _changes(self, subject: Subject, now: float, at: datetime) -> list[tuple[Watched, Condition]]:
        judged = self._judged.get(subject.id)
        if judged is None:
            return []
        is_quiet = not _is_suspicious(subject, now)
        if is_quiet and judged.is_calm:
            return []
        cause = SubjectRef("bridge", judged.claim.bridge_id, site_id=judged.claim.site_id)
        changes = []
        for name, watched in judged.watched.items():
            seen, detail = (False, "") if is_quiet else _seen(name, subject, now)
            active = watched.steady.step(seen, now)
            if active != watched.said:
                found = Condition(definition=name, subject=subject.ref, active=active, at=at, detail=detail[:200], cause=cause)
                changes.append((watched, found))
        judged.is_calm = is_quiet and all(watched.said is False for watched in judged.watched.values())
        return changes


def _is_suspicious(subject: Subject, now: float) -> bool:
    """Whether anything at all is seen of any condition: nearly always not, so this must be quick."""
    if subject.source is None or (subject.width and now - subject.seen > QUIET_AFTER_S):
        return True
    return any(shown.fault or now - shown.since > STILL_AFTER_S for shown in subject.pictures.values())


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
