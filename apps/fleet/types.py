"""What fleet hands out: claims of bridges, rows of the floor, one robot as its page shows it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import IntEnum
from typing import Any
from uuid import NAMESPACE_DNS, UUID, uuid5

from workers.protocol import RefusedSubject, Resume

ROBOT = "robot"  # the kind in `robot:<uuid>`: all that fleet answers for
ORDER_LIFE = timedelta(seconds=5)  # an order is meant for now: what is not carried out by then never is
GATEWAY_SILENT_AFTER = timedelta(seconds=10)
STALE_AFTER = timedelta(seconds=3)

# Fault knobs of the simulated arms, in words a person reads before turning one.
FAULTS: Mapping[str, str] = {
    "actuator_stall": "One joint stops following",
    "gripper_slip": "The gripper loses what it holds",
    "camera_freeze": "The camera repeats its last picture",
    "camera_black": "The camera sends black pictures",
    "camera_foreign": "The camera sends another robot's pictures",
    "clock_skew": "The bridge's clock is wrong",
    "duplicate_telemetry": "States are sent twice",
    "reorder_telemetry": "States are sent in the wrong order",
    "link_loss": "The bridge loses its link for some seconds",
    "process_kill": "The bridge is killed",
    "policy_nan": "The policy answers with values that are no numbers",
    "policy_bounds": "The policy asks for positions out of bounds",
    "policy_fast": "The policy asks for ten times the speed",
    "block_off": "Somebody knocks the block off the bench",
}
# Faults of the whole bridge: every robot it speaks for has them.
BRIDGE_FAULTS = frozenset({"clock_skew", "link_loss", "process_kill"})
INJECT, CLEAR, RESET = "inject_fault", "clear_fault", "reset_scene"


def gateway_id(name: str) -> UUID:
    """A gateway as the subject of an alarm: gateways have names, alarms want identifiers."""
    return uuid5(NAMESPACE_DNS, f"gateway.{name}")


def subject_name(robot_id: UUID) -> str:
    """A robot as credentials and messages name it."""
    return f"{ROBOT}:{robot_id}"


class Need(IntEnum):
    """How much a robot needs a person, most first. Lists are sorted by it; `label` is the state word on screen."""

    RESET = 0  # only a person on the floor can go on
    FAULT = 1
    LOST = 2  # its bridge is not connected, or nothing was heard for a while
    STOPPED = 3  # our latched remote stop request is in effect
    HOLD = 4
    RESETTING = 5
    HUMAN = 6
    NONE = 7  # works by itself
    NEVER = 8  # registered; no bridge has spoken for it yet

    @property
    def label(self) -> str:
        """The state in one or two words."""
        return _LABELS[self]

    @property
    def wants_somebody(self) -> bool:
        """Whether a person should look now."""
        return self <= Need.STOPPED


_LABELS = {
    Need.RESET: "Needs reset",
    Need.FAULT: "Fault",
    Need.LOST: "Link lost",
    Need.STOPPED: "Stopped",
    Need.HOLD: "Hold",
    Need.RESETTING: "Resetting",
    Need.HUMAN: "Human",
    Need.NONE: "Autonomous",
    Need.NEVER: "Not connected yet",
}


@dataclass(frozen=True)
class ClaimedRobot:
    """One robot a bridge now speaks for, in the order of its hello. `channels` are as the bridge described them."""

    id: UUID
    name: str
    kind: str
    is_simulated: bool
    channels: Sequence[Mapping[str, Any]]
    cameras: Sequence[str]


@dataclass(frozen=True)
class Claim:
    """What a hello got: `epoch` fences every later act of this connection; an older epoch is refused everything."""

    bridge_id: UUID
    site_id: UUID
    epoch: int
    accepted: tuple[UUID, ...]
    robots: tuple[ClaimedRobot, ...]
    refused: list[RefusedSubject]
    resume: list[Resume]


@dataclass(frozen=True)
class LastReport:
    """What a robot last said of itself, for pages that a gateway cannot answer yet. No fact: it is replaced every two seconds.

    `body` is the protocol's Report as plain JSON, without its place in the socket. `device_ms` is the bridge's clock.
    """

    robot_id: UUID
    boot: UUID
    sequence: int
    device_ms: int
    received_at: datetime
    body: Mapping[str, Any]


@dataclass(frozen=True)
class FloorRobot:
    """One robot as the floor and the list show it. `age_s` counts from the last report, None where there is none."""

    id: UUID
    name: str
    kind: str
    is_simulated: bool
    need: Need
    mode: str
    driver: str
    task: str
    activity: str
    skill: str
    reason: str  # why a person is needed, where the robot says so
    bridge: str
    is_connected: bool
    received_at: datetime | None
    headlines: Sequence[Mapping[str, Any]] = ()  # the channels that stand on the floor, as described
    cameras: Sequence[str] = ()
    faults: Sequence[str] = ()

    @property
    def state(self) -> str:
        """The state word."""
        return self.need.label

    @property
    def injected(self) -> str:
        """The injected faults in words: whoever looks must know that it fails on purpose."""
        return ", ".join(fault.replace("_", " ") for fault in self.faults)


@dataclass(frozen=True)
class Floor:
    """All robots of a site, those that need somebody first, and how many are in each state."""

    robots: Sequence[FloorRobot]
    counts: Mapping[Need, int] = field(default_factory=dict)

    @property
    def waiting(self) -> int:
        """How many want somebody now."""
        return sum(count for need, count in self.counts.items() if need.wants_somebody)


@dataclass(frozen=True)
class SiteSubject:
    """One robot of a site as the gateway tells browsers of it, whether or not a bridge speaks for it now."""

    id: UUID
    name: str
    kind: str
    is_simulated: bool
    channels: Sequence[Mapping[str, Any]]
    cameras: Sequence[str]
    bridge: str
    gateway: str  # the gateway it is connected to, empty for none


@dataclass(frozen=True)
class OpenOrder:
    """An order that a connected robot has not carried out yet."""

    id: UUID
    robot_id: UUID
    name: str
    arguments: Mapping[str, Any]
    valid_until: datetime


@dataclass(frozen=True)
class BridgeSeen:
    """One bridge of a site as its page shows it."""

    id: UUID
    name: str
    epoch: int
    gateway: str
    software: str
    connected_at: datetime | None
    lost_at: datetime | None

    @property
    def is_connected(self) -> bool:
        """Whether its newest connection has not ended, as far as a gateway told."""
        return self.connected_at is not None and self.lost_at is None


@dataclass(frozen=True)
class EpisodeSeen:
    """One episode as a list shows it. Times are the console's; `device_ms` the bridge's clock when it began."""

    id: UUID
    robot_id: UUID
    robot: str
    task: str
    driver: str
    skill: str
    seed: int
    started_at: datetime
    device_ms: int
    ended_at: datetime | None
    outcome: str
    steps: int
    reason: str

    @property
    def state(self) -> str:
        """How it ended, or that it runs."""
        return self.outcome or "running"

    @property
    def seconds(self) -> float | None:
        """How long it took by the console's clock."""
        return None if self.ended_at is None else (self.ended_at - self.started_at).total_seconds()


@dataclass(frozen=True)
class RobotDetail:
    """One robot as its page shows it."""

    robot: FloorRobot
    site_id: UUID
    version: int
    channels: Sequence[Mapping[str, Any]]
    report: Mapping[str, Any]
    device_ms: int | None
    registered_at: datetime
    bridge: BridgeSeen | None
    bound_at: datetime | None
    contested_by: str  # another bridge that wanted it and was refused
    episode: EpisodeSeen | None
    episodes: Sequence[EpisodeSeen]
    outcomes: Mapping[str, int]  # of the last hundred episodes that ended
    orders: Sequence[OpenOrder]
