"""What is newest-wins: states, reports and pictures. Any of them may be lost; the next one replaces it."""

from enum import StrEnum
from typing import Annotated
from uuid import UUID

import msgspec

from workers.protocol.base import MOST_CHANNELS, Message, Milliseconds, Name, Sequence, SubjectIndex, Words

MOST_STATES = 50
LARGEST_PICTURE = 512 * 1024


class Mode(StrEnum):
    """Who moves the subject now, as it reports itself."""

    AUTONOMOUS = "autonomous"
    HOLD = "hold"  # unlatched pause
    HUMAN = "human"
    STOPPED = "stopped"  # our latched remote stop request is in effect
    RESETTING = "resetting"
    FAULT = "fault"  # it cannot go on by itself


class Driver(StrEnum):
    """What decides the actions."""

    NOBODY = "nobody"
    EXPERT = "expert"  # scripted, with state that no policy sees
    POLICY = "policy"
    PERSON = "person"


class State(msgspec.Struct, frozen=True, array_like=True):
    """One subject's record at one moment: (subject, sequence, at_ms, values), the values in the order of its channels.

    `sequence` rises within a boot for each subject by itself; `at_ms` is the bridge's clock; an unknown value is null.
    """

    subject: SubjectIndex
    sequence: Sequence
    at_ms: Milliseconds
    values: Annotated[list[float | None], msgspec.Meta(max_length=MOST_CHANNELS)]


class States(Message, frozen=True, kw_only=True, tag="states"):
    """Up to fifty states of any subjects of this socket."""

    states: Annotated[list[State], msgspec.Meta(min_length=1, max_length=MOST_STATES)]


class Report(Message, frozen=True, kw_only=True, tag="report"):
    """What a subject does, in words: sent when it changes and every two seconds.

    `activity` is the phase of the task; `skill` names the skill version acting; `latched` are the Stops in effect.
    """

    subject: SubjectIndex
    sequence: Sequence
    at_ms: Milliseconds
    mode: Mode
    driver: Driver = Driver.NOBODY
    task: Words = ""
    activity: Words = ""
    skill: Words = ""
    episode: UUID | None = None
    step: int = 0
    is_moving: bool = False
    needs_reset: Words = ""  # why only a person on the floor can go on; empty when nothing is needed
    latched: Annotated[list[UUID], msgspec.Meta(max_length=100)] = []
    faults: Annotated[list[Name], msgspec.Meta(max_length=20)] = []  # injected faults in effect: said openly


class Picture(Message, frozen=True, kw_only=True, tag="picture"):
    """One camera's picture, taken at `at_ms` by the bridge's clock."""

    subject: SubjectIndex
    camera: Name
    sequence: Sequence
    at_ms: Milliseconds
    jpeg: Annotated[bytes, msgspec.Meta(min_length=4, max_length=LARGEST_PICTURE)]
