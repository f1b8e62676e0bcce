"""What must not be lost: facts a bridge keeps on its disk until the gateway has committed them.

Facts of one boot are numbered from 1 without gaps and taken in that order. A fact taken before is taken again as nothing.
"""

from enum import StrEnum
from typing import Annotated
from uuid import UUID

import msgspec

from workers.protocol.base import Message, Milliseconds, Name, Part, SubjectName, Words

MOST_FACTS = 50
FactSequence = Annotated[int, msgspec.Meta(ge=1, le=2**53)]


class Outcome(StrEnum):
    """How an episode ended, by the task's own check."""

    SUCCESS = "success"
    FAILURE = "failure"
    UNSAFE = "unsafe"  # its action was refused at the bridge
    ABORTED = "aborted"  # stopped, reset or cut off: says nothing about the skill


class Body(msgspec.Struct, frozen=True, kw_only=True, tag_field="fact", forbid_unknown_fields=True):
    """Base of what a fact says."""


class EpisodeStarted(Body, frozen=True, kw_only=True, tag="episode_started"):
    """A subject began an episode of a task; `seed` makes the scene again."""

    episode: UUID
    task: Name
    driver: Name
    skill: Words = ""
    seed: int = 0


class EpisodeEnded(Body, frozen=True, kw_only=True, tag="episode_ended"):
    """It ended after so many control steps, and why."""

    episode: UUID
    outcome: Outcome
    steps: Annotated[int, msgspec.Meta(ge=0)]
    reason: Words = ""


class ActionRefused(Body, frozen=True, kw_only=True, tag="action_refused"):
    """The bridge refused or clamped what the policy wanted: not finite, out of bounds, too fast. The arm holds."""

    episode: UUID | None
    reason: Words


class NeedsReset(Body, frozen=True, kw_only=True, tag="needs_reset"):
    """Only a person on the floor can go on."""

    reason: Words


class WasReset(Body, frozen=True, kw_only=True, tag="was_reset"):
    """The scene is ready again."""


class StopLatched(Body, frozen=True, kw_only=True, tag="stop_latched"):
    """A Stop took effect: received, and motion ended, by the bridge's clock."""

    stop: UUID
    received_at_ms: Milliseconds
    ended_at_ms: Milliseconds


class StopReleased(Body, frozen=True, kw_only=True, tag="stop_released"):
    """A cleared Stop no longer holds this subject."""

    stop: UUID


class OrderDone(Body, frozen=True, kw_only=True, tag="order_done"):
    """An order was carried out, or not, and why."""

    order: UUID
    succeeded: bool
    detail: Words = ""


AnyBody = EpisodeStarted | EpisodeEnded | ActionRefused | NeedsReset | WasReset | StopLatched | StopReleased | OrderDone


class Fact(Part, frozen=True, kw_only=True):
    """One fact about one subject, by its full name: facts outlive the socket whose hello gave it a place."""

    sequence: FactSequence
    at_ms: Milliseconds
    subject: SubjectName
    body: AnyBody


class Facts(Message, frozen=True, kw_only=True, tag="facts"):
    """Facts of one boot, in order, without gaps."""

    boot: UUID
    facts: Annotated[list[Fact], msgspec.Meta(min_length=1, max_length=MOST_FACTS)]


class FactsTaken(Message, frozen=True, kw_only=True, tag="facts_taken"):
    """Everything of this boot up to `sequence` is committed and may be forgotten. The next fact wanted is the one after."""

    boot: UUID
    sequence: Annotated[int, msgspec.Meta(ge=0, le=2**53)]


class Resume(Part, frozen=True, kw_only=True):
    """How far the facts of one boot were taken."""

    boot: UUID
    sequence: Annotated[int, msgspec.Meta(ge=0, le=2**53)]
