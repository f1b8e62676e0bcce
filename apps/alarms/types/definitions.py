"""What deserves an alarm: abnormal, needs a person, has a stated response and a time to act. All else is an event.

The table is the whole philosophy: a condition that is not here raises nothing. Priority is not chosen but follows from
how bad it gets and how soon, by `PRIORITIES`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum, StrEnum


class Priority(IntEnum):
    """How urgently a person must act; each has a shape and a letter on screen."""

    URGENT = 1
    HIGH = 2
    NORMAL = 3
    ADVISORY = 4

    @property
    def letter(self) -> str:
        """U, H, N or A."""
        return self.name[0]

    @property
    def label(self) -> str:
        """The priority in words."""
        return self.name.lower()


class Consequence(StrEnum):
    """What happens if nobody acts."""

    MINOR = "minor"  # something is slower or less well known
    SERIOUS = "serious"  # work is lost, or a robot acts unseen
    SEVERE = "severe"  # people or machines may come to harm, or facts are lost


class Urgency(StrEnum):
    """How long a person has to act."""

    NOW = "now"  # under a minute
    SOON = "soon"  # under ten minutes
    LATER = "later"


PRIORITIES: Mapping[tuple[Consequence, Urgency], Priority] = {
    (Consequence.SEVERE, Urgency.NOW): Priority.URGENT,
    (Consequence.SEVERE, Urgency.SOON): Priority.HIGH,
    (Consequence.SEVERE, Urgency.LATER): Priority.NORMAL,
    (Consequence.SERIOUS, Urgency.NOW): Priority.HIGH,
    (Consequence.SERIOUS, Urgency.SOON): Priority.NORMAL,
    (Consequence.SERIOUS, Urgency.LATER): Priority.ADVISORY,
    (Consequence.MINOR, Urgency.NOW): Priority.NORMAL,
    (Consequence.MINOR, Urgency.SOON): Priority.ADVISORY,
    (Consequence.MINOR, Urgency.LATER): Priority.ADVISORY,
}
_LIMITS_S = {Urgency.NOW: 60, Urgency.SOON: 600}


@dataclass(frozen=True)
class Definition:
    """One kind of alarm.

    `time_to_respond_s` is how long a person has before the consequence. `on_delay_s` and `off_delay_s` are how long the
    condition must hold, or be gone, before the alarm changes; `limit` and `deadband` are for measured ones, in `unit`:
    raised above the limit, gone only below limit minus deadband. `groups` gathers subjects of one cause into one alarm.
    `latches` keeps it standing after the condition went, until a person resets it. While one of `hidden_by` stands for
    the same cause, this one is told there and not again.
    """

    name: str
    title: str
    cause: str
    consequence_text: str
    response: str
    consequence: Consequence
    time_to_respond_s: int
    owner: str
    on_delay_s: float = 0.0
    off_delay_s: float = 0.0
    limit: float | None = None
    deadband: float = 0.0
    unit: str = ""
    groups: bool = False
    latches: bool = False
    hidden_by: tuple[str, ...] = ()

    @property
    def urgency(self) -> Urgency:
        """How soon a person must act."""
        return next((word for word, limit in _LIMITS_S.items() if self.time_to_respond_s <= limit), Urgency.LATER)

    @property
    def priority(self) -> Priority:
        """By the table."""
        return PRIORITIES[self.consequence, self.urgency]


_SERIOUS, _SEVERE, _MINOR = Consequence.SERIOUS, Consequence.SEVERE, Consequence.MINOR
_ALL = (
    Definition(
        "bridge_lost",
        "Bridge lost",
        "A bridge no longer speaks: its process, its computer or the network between failed.",
        "Its robots act unseen; Stop reaches them only when the bridge is back.",
        "Look at the robots themselves. Start the bridge again, or check its network; press the hardware stop if one moves.",
        _SEVERE,
        60,
        "floor operator",
        on_delay_s=1.0,
        off_delay_s=3.0,
        groups=True,
    ),
    Definition(
        "state_stale",
        "No new state",
        "The bridge speaks, but this robot's own records stopped coming.",
        "What the floor shows of it is old; a fault would not be seen.",
        "Open the robot, compare with its camera, restart its part of the bridge.",
        _SERIOUS,
        60,
        "operator",
        on_delay_s=3.0,
        off_delay_s=3.0,
        groups=True,
        hidden_by=("bridge_lost",),
    ),
    Definition(
        "camera_frozen",
        "Camera frozen",
        "The camera repeats one picture: its driver or its cable hangs.",
        "Nobody sees what the robot does; a person must not drive by it.",
        "Reconnect the camera; until then judge by the other camera or at the robot itself.",
        _SERIOUS,
        60,
        "operator",
        on_delay_s=3.0,
        off_delay_s=3.0,
        groups=True,
        hidden_by=("bridge_lost",),
    ),
    Definition(
        "camera_black",
        "Camera black",
        "The camera sends black pictures: covered, unlit or broken.",
        "Nobody sees what the robot does.",
        "Check the light and the lens, then the camera.",
        _SERIOUS,
        300,
        "operator",
        on_delay_s=1.0,
        off_delay_s=3.0,
        groups=True,
        hidden_by=("bridge_lost",),
    ),
    Definition(
        "camera_foreign",
        "Picture of another robot",
        "Pictures of this robot are also sent as another's: cameras or settings of a bridge were mixed up.",
        "A person would judge, stop or drive one robot by the picture of another.",
        "Do not act on this picture. Check which camera the bridge gives to which robot.",
        _SEVERE,
        60,
        "floor operator",
        on_delay_s=1.0,
        off_delay_s=3.0,
        groups=True,
        hidden_by=("bridge_lost",),
    ),
    Definition(
        "policy_unsafe",
        "Policy unsafe",
        "The policy asked for what the bridge had to refuse: no number, out of bounds or too fast.",
        "The robot holds and its episode is lost; the skill may do it again.",
        "Look at the episode, then let the robot go on or take the skill off it.",
        _SERIOUS,
        600,
        "operator",
        off_delay_s=0.0,
        groups=True,
    ),
    Definition(
        "claim_refused",
        "Two bridges claim one robot",
        "A bridge came for a robot that another bridge speaks for: a copy still runs, or a credential was copied.",
        "If both reached the robot it would obey two masters.",
        "Find out which bridge is the right one; end the other, or release the robot from the old one.",
        _SEVERE,
        600,
        "admin",
        groups=True,
        latches=True,
    ),
    Definition(
        "tail_lag",
        "Journal behind",
        "The tail does not keep up: a transaction is stuck, or the tail process is down.",
        "New facts are not sealed, and pages that follow them are late.",
        "See the journal page and the logs of the tail; end the transaction that is open for long.",
        _SERIOUS,
        600,
        "admin",
        limit=2.0,
        deadband=1.0,
        unit="s",
    ),
    Definition(
        "disk_nearly_full",
        "Disk nearly full",
        "The data folder's disk is almost used up.",
        "When it is full no fact can be recorded; Stop still works.",
        "Free space or add some; shorten how long samples are kept.",
        _SEVERE,
        600,
        "admin",
        limit=0.90,
        deadband=0.02,
        unit="of the disk",
    ),
    Definition(
        "gateway_lost",
        "Gateway lost",
        "A gateway process no longer reports: it crashed, or its computer is gone.",
        "Its bridges and screens are cut off until they reach another gateway; Stop from those pages goes another way.",
        "Check that its robots came back through another gateway; start the lost one again.",
        _SEVERE,
        60,
        "admin",
        groups=True,
    ),
    Definition(
        "valkey_lost",
        "Valkey lost",
        "Valkey does not answer.",
        "Pages refresh by polling only, and housekeeping waits. Facts and Stop are not affected.",
        "Start Valkey again; nothing has to be repaired afterwards.",
        _MINOR,
        600,
        "admin",
        groups=True,
    ),
)
DEFINITIONS: Mapping[str, Definition] = {one.name: one for one in _ALL}


def definition_named(name: str) -> Definition:
    """One definition. Raises LookupError for a name that is not in the table."""
    try:
        return DEFINITIONS[name]
    except KeyError:
        raise LookupError(f"no alarm is defined as {name!r}") from None
