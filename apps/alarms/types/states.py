"""The states of an alarm, after ISA-18.2, and what detectors say to it."""

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from uuid import UUID

from apps.alarms.types.definitions import Definition
from apps.kernel.types import SubjectRef

MOST_DETAIL = 200


class State(StrEnum):
    """Where one alarm is. `shelved` lies over these and changes none of them."""

    NORMAL = "normal"
    UNACKNOWLEDGED = "unacknowledged"  # the condition holds, and nobody said they saw it
    ACKNOWLEDGED = "acknowledged"  # the condition holds, and somebody saw it
    RETURNED = "returned"  # the condition went by itself before anybody saw it
    LATCHED = "latched"  # seen, and gone, but it stands until a person resets it

    @property
    def label(self) -> str:
        """The state in words."""
        return {"returned": "gone, not seen", "acknowledged": "seen", "unacknowledged": "not seen"}.get(self.value, self.value)


STANDING = frozenset(State) - {State.NORMAL}
UNSEEN = frozenset({State.UNACKNOWLEDGED, State.RETURNED})


@dataclass(frozen=True)
class AlarmState:
    """What a decision about one alarm needs to know.

    `version` rises whenever the condition begins for a subject: an acknowledgement names the one it answers, so that it
    never covers what came after. `annunciations` counts how often it called for a person. `members` are the subjects
    `kind:id` it gathered since it was raised, each with whether the condition holds for it now.
    """

    id: UUID
    definition: str
    state: State
    version: int = 0
    annunciations: int = 0
    members: dict[str, bool] = field(default_factory=dict)
    shelved_until: datetime | None = None

    @property
    def is_active(self) -> bool:
        """Whether the condition holds for any subject."""
        return any(self.members.values())


@dataclass(frozen=True)
class Condition:
    """What a detector found: a condition holds for a subject, or no longer does.

    `cause` is what several subjects have in common (a bridge): with a definition that groups, they share one alarm.
    """

    definition: str
    subject: SubjectRef
    active: bool
    at: datetime
    detail: str = ""
    cause: SubjectRef | None = None


class Steadied:
    """A condition that flickers, made steady by its definition's delays: for detectors that look once a second or so.

    `step` takes what is seen now and a clock that only grows, in seconds, and answers whether the alarm's condition holds.
    """

    def __init__(self, definition: Definition, *, active: bool = False) -> None:
        self._definition = definition
        self._active = active
        self._since: float | None = None

    @property
    def is_active(self) -> bool:
        """What was answered last."""
        return self._active

    def step(self, value: float, now_s: float) -> bool:
        """Whether the condition holds, after `value` (a truth, or a measured value against the limit) was seen at `now_s`."""
        seen = self._seen(value)
        if seen == self._active:
            self._since = None
            return self._active
        if self._since is None:
            self._since = now_s
        delay = self._definition.on_delay_s if seen else self._definition.off_delay_s
        if now_s - self._since >= delay:
            self._active, self._since = seen, None
        return self._active

    def _seen(self, value: float) -> bool:
        limit = self._definition.limit
        if limit is None or isinstance(value, bool):  # a truth is a number in Python
            return bool(value)
        return value > (limit - self._definition.deadband if self._active else limit)
