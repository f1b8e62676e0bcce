"""Facts of fleet. What a robot did goes to its own stream, what a bridge did to the bridge's.

Each fact that a bridge sent leaves exactly one event that carries (bridge, boot, sequence): so whoever reads the journal
alone can tell that none was lost, taken twice or made up. Such events hold both times: `device_ms` by the bridge's clock and
`received_at` by the console's.
"""

from datetime import datetime
from typing import Any
from uuid import UUID

from apps.journal.events import event
from apps.journal.types import Payload


def robot_stream(robot_id: UUID) -> str:
    """The stream of one robot."""
    return f"fleet.robot:{robot_id}"


def bridge_stream(bridge_id: UUID) -> str:
    """The stream of one bridge."""
    return f"fleet.bridge:{bridge_id}"


@event("fleet.robot_registered")
class RobotRegistered(Payload, frozen=True):
    """A robot has a name here; no bridge speaks for it yet."""

    robot_id: UUID
    site_id: UUID
    name: str
    kind: str
    is_simulated: bool
    registered_by: UUID | None
    registered_at: datetime


@event("fleet.robot_bound")
class RobotBound(Payload, frozen=True):
    """This bridge was the first to claim the robot: no other may speak for it until somebody releases it."""

    robot_id: UUID
    bridge_id: UUID
    bridge_name: str
    bound_at: datetime
    version: int


@event("fleet.robot_described")
class RobotDescribed(Payload, frozen=True):
    """What the robot measures and shows, as its bridge says; states name channels by their place in this list."""

    robot_id: UUID
    bridge_id: UUID
    channels: list[dict[str, Any]]
    cameras: list[str]
    described_at: datetime


@event("fleet.robot_released")
class RobotReleased(Payload, frozen=True):
    """The next bridge that claims the robot gets it."""

    robot_id: UUID
    bridge_id: UUID
    released_by: UUID | None
    released_at: datetime
    version: int


@event("fleet.claim_refused")
class ClaimRefused(Payload, frozen=True):
    """A bridge wanted a robot that another one holds."""

    robot_id: UUID
    bridge_id: UUID
    bridge_name: str
    held_by: UUID
    refused_at: datetime


@event("fleet.claim_withdrawn")
class ClaimWithdrawn(Payload, frozen=True):
    """The bridge that was refused no longer wants the robot."""

    robot_id: UUID
    bridge_id: UUID
    withdrawn_at: datetime


@event("fleet.bridge_connected")
class BridgeConnected(Payload, frozen=True):
    """A bridge said hello; whatever comes from an older epoch of it is refused from now on."""

    bridge_id: UUID
    site_id: UUID
    name: str
    epoch: int
    boot: UUID
    gateway: str
    software: str
    credential_id: UUID
    robots: int
    connected_at: datetime


@event("fleet.bridge_lost")
class BridgeLost(Payload, frozen=True):
    """The connection of this epoch ended."""

    bridge_id: UUID
    epoch: int
    reason: str
    lost_at: datetime


class FromBridge(Payload, frozen=True):
    """What every fact of a bridge carries."""

    bridge_id: UUID
    epoch: int
    boot: UUID
    sequence: int
    device_ms: int
    received_at: datetime


@event("fleet.episode_started")
class EpisodeStarted(FromBridge, frozen=True):
    """A robot began an episode. `supersedes` is one that the bridge never ended: it counts as aborted."""

    episode_id: UUID
    robot_id: UUID
    site_id: UUID
    task: str
    driver: str
    skill: str
    seed: int
    supersedes: UUID | None


@event("fleet.episode_ended")
class EpisodeEnded(FromBridge, frozen=True):
    """An episode ended, by the task's own check."""

    episode_id: UUID
    robot_id: UUID
    outcome: str
    steps: int
    reason: str


@event("fleet.action_refused")
class ActionRefused(FromBridge, frozen=True):
    """The bridge refused what the policy wanted."""

    robot_id: UUID
    episode_id: UUID | None
    reason: str


@event("fleet.needs_reset")
class NeedsReset(FromBridge, frozen=True):
    """Only a person on the floor can go on."""

    robot_id: UUID
    reason: str


@event("fleet.was_reset")
class WasReset(FromBridge, frozen=True):
    """The scene is ready again."""

    robot_id: UUID


@event("fleet.stop_latched")
class StopLatched(FromBridge, frozen=True):
    """The robot says that a Stop took effect: received and motion ended, by the bridge's clock."""

    robot_id: UUID
    stop_id: UUID
    received_ms: int
    ended_ms: int


@event("fleet.stop_released")
class StopReleased(FromBridge, frozen=True):
    """The robot says that a cleared Stop no longer holds it."""

    robot_id: UUID
    stop_id: UUID


@event("fleet.order_done")
class OrderDone(FromBridge, frozen=True):
    """The bridge carried an order out, or says why not."""

    robot_id: UUID
    order_id: UUID
    succeeded: bool
    detail: str


@event("fleet.fact_refused")
class FactRefused(FromBridge, frozen=True):
    """A fact that cannot be so: taken, so that those after it are not held up, and kept with the reason."""

    subject: str
    fact: str
    reason: str


@event("fleet.order_placed")
class OrderPlaced(Payload, frozen=True):
    """Somebody asked a connected robot for something, to be carried out at once or never."""

    order_id: UUID
    robot_id: UUID
    site_id: UUID
    name: str
    arguments: dict[str, Any]
    placed_by: UUID | None
    placed_at: datetime
    valid_until: datetime
