"""Which bridge speaks for which robot."""

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from apps.fleet import events
from apps.fleet.lifecycle.robots import RobotState
from apps.fleet.lifecycle.words import clean_words
from apps.fleet.types import subject_name
from apps.journal.types import Payload
from workers.protocol import Channel, Described, RefusedSubject

HEADLINES = 3
LARGEST_BAND = 1e16  # what the journal keeps exactly


@dataclass(frozen=True)
class Claimed:
    """What became of one subject of a hello."""

    robot: RobotState | None
    facts: Sequence[Payload] = ()
    refused: RefusedSubject | None = None


def decide_claim(
    subject: str,
    robot: RobotState | None,
    described: Described | None,
    *,
    bridge_id: UUID,
    bridge_name: str,
    may_speak_for: Collection[str],
    now: datetime,
) -> Claimed:
    """Whether a bridge speaks for one subject from now on, and the facts that follow either way."""
    if robot is None or subject not in may_speak_for or subject != subject_name(robot.id):
        return _refuse(robot, subject, "unknown", "This site has no such robot, or the credential is not bound to it.")
    if robot.bridge_id not in {None, bridge_id}:
        return _contested(robot, subject, bridge_id, bridge_name, now)
    fault = fault_of_description(robot, described)
    if fault:
        return _refuse(robot, subject, "differs", fault)
    facts: list[Payload] = []
    if robot.bridge_id is None:
        facts.append(
            events.RobotBound(
                robot_id=robot.id, bridge_id=bridge_id, bridge_name=bridge_name, bound_at=now, version=robot.version + 1
            )
        )
    if robot.contested_by == bridge_id:
        facts.append(events.ClaimWithdrawn(robot_id=robot.id, bridge_id=bridge_id, withdrawn_at=now))
    if described is not None:
        channels, cameras = channels_of(described), [clean_words(name, 100) for name in described.cameras]
        if (channels, cameras) != (list(robot.channels), list(robot.cameras)):
            facts.append(
                events.RobotDescribed(
                    robot_id=robot.id, bridge_id=bridge_id, channels=channels, cameras=cameras, described_at=now
                )
            )
    return Claimed(robot, facts)


def _refuse(robot: RobotState | None, subject: str, code: str, message: str) -> Claimed:
    return Claimed(robot, (), RefusedSubject(subject=subject, code=code, message=message))


def _contested(robot: RobotState, subject: str, bridge_id: UUID, bridge_name: str, now: datetime) -> Claimed:
    """Another bridge holds it. Said once for each contender, however often it comes back."""
    refused = RefusedSubject(subject=subject, code="claimed", message="Another bridge speaks for this robot.")
    if robot.contested_by == bridge_id or robot.bridge_id is None:
        return Claimed(robot, (), refused)
    fact = events.ClaimRefused(
        robot_id=robot.id, bridge_id=bridge_id, bridge_name=bridge_name, held_by=robot.bridge_id, refused_at=now
    )
    return Claimed(robot, (fact,), refused)


def channels_of(described: Described) -> list[dict[str, Any]]:
    """The channels as plain values, in the order of the states."""
    return [
        {
            "name": clean_words(one.name, 100),
            "unit": clean_words(one.unit, 16),
            "low": one.low,
            "high": one.high,
            "headline": one.headline,
        }
        for one in described.channels
    ]


def fault_of_description(robot: RobotState, described: Described | None) -> str:
    """Why the bridge's words cannot be of this robot, else nothing."""
    if described is None:
        return ""
    if described.kind != robot.kind:
        return f"It is registered as {robot.kind}."
    if described.is_simulated != robot.is_simulated:
        return "It is registered as simulated." if robot.is_simulated else "It is registered as real."
    names = [one.name for one in described.channels]
    if len(set(names)) != len(names) or len(set(described.cameras)) != len(described.cameras):
        return "Two channels or cameras have one name."
    if sum(one.headline for one in described.channels) > HEADLINES:
        return f"At most {HEADLINES} channels stand on the floor."
    return "A band is not finite." if any(_is_endless(one) for one in described.channels) else ""


def _is_endless(channel: Channel) -> bool:
    return any(
        bound is not None and not (math.isfinite(bound) and abs(bound) < LARGEST_BAND) for bound in (channel.low, channel.high)
    )
