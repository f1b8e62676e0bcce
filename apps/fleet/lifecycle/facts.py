"""What a fact of a bridge becomes: one payload, a refusal among them.

A fact is never sent back: the bridge would keep it, and all that follow, for good. One that cannot be so is taken and
recorded as refused, with the reason.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, TypeAlias
from uuid import UUID

from apps.fleet import events
from apps.fleet.lifecycle.robots import RobotState
from apps.fleet.lifecycle.words import clean_words
from workers import protocol

LARGEST_WHOLE = 2**53 - 1  # what the journal keeps exactly
LAST_MS = 253_402_300_799_999  # the end of year 9999: later times cannot be written


@dataclass(frozen=True)
class EpisodeState:
    """What decisions need to know of an episode."""

    id: UUID
    robot_id: UUID
    is_ended: bool = False
    is_superseded: bool = False


@dataclass(frozen=True)
class OrderState:
    """What decisions need to know of an order."""

    id: UUID
    robot_id: UUID
    is_done: bool = False


@dataclass
class Known:
    """All that the facts of one batch may touch, as it stands after each of them.

    `robots` are those bound to this bridge, by the name its credential gives them.
    """

    robots: dict[str, RobotState]
    episodes: dict[UUID, EpisodeState] = field(default_factory=dict)
    running: dict[UUID, UUID] = field(default_factory=dict)  # episode by robot
    orders: dict[UUID, OrderState] = field(default_factory=dict)


class Impossible(ValueError):
    """The fact cannot be so; the message says why."""


Common: TypeAlias = dict[str, Any]


def decide_fact(
    fact: protocol.Fact, known: Known, *, bridge_id: UUID, epoch: int, boot: UUID, received_at: datetime
) -> events.FromBridge:
    """The payload that one fact becomes. Brings `known` up to date with it."""
    common: Common = {
        "bridge_id": bridge_id,
        "epoch": epoch,
        "boot": boot,
        "sequence": fact.sequence,
        "device_ms": min(fact.at_ms, LAST_MS),
        "received_at": received_at,
    }
    try:
        robot = known.robots.get(fact.subject)
        if robot is None:
            raise Impossible("this bridge does not speak for it")
        return _DECIDE[type(fact.body)](fact.body, robot, known, common)
    except Impossible as error:
        name = str(type(fact.body).__struct_config__.tag)
        return events.FactRefused(**common, subject=clean_words(fact.subject, 100), fact=name, reason=str(error))


def _started(body: protocol.EpisodeStarted, robot: RobotState, known: Known, common: Common) -> events.FromBridge:
    if body.episode in known.episodes:
        raise Impossible("there is an episode of this id already")
    if abs(body.seed) > LARGEST_WHOLE:
        raise Impossible("the seed is too large")
    before = known.running.get(robot.id)
    if before is not None:
        known.episodes[before] = replace(known.episodes[before], is_ended=True, is_superseded=True)
    known.episodes[body.episode] = EpisodeState(body.episode, robot.id)
    known.running[robot.id] = body.episode
    return events.EpisodeStarted(
        **common,
        episode_id=body.episode,
        robot_id=robot.id,
        site_id=robot.site_id,
        task=clean_words(body.task, 100),
        driver=clean_words(body.driver, 100),
        skill=clean_words(body.skill),
        seed=body.seed,
        supersedes=before,
    )


def _ended(body: protocol.EpisodeEnded, robot: RobotState, known: Known, common: Common) -> events.FromBridge:
    episode = known.episodes.get(body.episode)
    if episode is None or episode.robot_id != robot.id:
        raise Impossible("this robot has no such episode")
    if episode.is_ended and not episode.is_superseded:
        raise Impossible("the episode has ended already")
    if body.steps > LARGEST_WHOLE:
        raise Impossible("the number of steps is too large")
    known.episodes[body.episode] = replace(episode, is_ended=True, is_superseded=False)
    if known.running.get(robot.id) == body.episode:
        del known.running[robot.id]
    return events.EpisodeEnded(
        **common,
        episode_id=body.episode,
        robot_id=robot.id,
        outcome=body.outcome.value,
        steps=body.steps,
        reason=clean_words(body.reason),
    )


def _refused(body: protocol.ActionRefused, robot: RobotState, known: Known, common: Common) -> events.FromBridge:
    episode = known.episodes.get(body.episode) if body.episode is not None else None
    if body.episode is not None and (episode is None or episode.robot_id != robot.id):
        raise Impossible("this robot has no such episode")
    return events.ActionRefused(**common, robot_id=robot.id, episode_id=body.episode, reason=clean_words(body.reason))


def _needs_reset(body: protocol.NeedsReset, robot: RobotState, _known: Known, common: Common) -> events.FromBridge:
    return events.NeedsReset(**common, robot_id=robot.id, reason=clean_words(body.reason) or "no reason given")


def _was_reset(_body: protocol.WasReset, robot: RobotState, _known: Known, common: Common) -> events.FromBridge:
    return events.WasReset(**common, robot_id=robot.id)


def _latched(body: protocol.StopLatched, robot: RobotState, _known: Known, common: Common) -> events.FromBridge:
    received, ended = (min(moment, LAST_MS) for moment in (body.received_at_ms, body.ended_at_ms))
    return events.StopLatched(**common, robot_id=robot.id, stop_id=body.stop, received_ms=received, ended_ms=ended)


def _released(body: protocol.StopReleased, robot: RobotState, _known: Known, common: Common) -> events.FromBridge:
    return events.StopReleased(**common, robot_id=robot.id, stop_id=body.stop)


def _done(body: protocol.OrderDone, robot: RobotState, known: Known, common: Common) -> events.FromBridge:
    order = known.orders.get(body.order)
    if order is None or order.robot_id != robot.id:
        raise Impossible("this robot was given no such order")
    if order.is_done:
        raise Impossible("the order was done already")
    known.orders[body.order] = replace(order, is_done=True)
    detail = clean_words(body.detail)
    return events.OrderDone(**common, robot_id=robot.id, order_id=body.order, succeeded=body.succeeded, detail=detail)


_DECIDE: dict[type, Callable[[Any, RobotState, Known, Common], events.FromBridge]] = {
    protocol.EpisodeStarted: _started,
    protocol.EpisodeEnded: _ended,
    protocol.ActionRefused: _refused,
    protocol.NeedsReset: _needs_reset,
    protocol.WasReset: _was_reset,
    protocol.StopLatched: _latched,
    protocol.StopReleased: _released,
    protocol.OrderDone: _done,
}
