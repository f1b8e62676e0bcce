"""What the console asks of a bridge."""

from typing import Annotated
from uuid import UUID

import msgspec

from workers.protocol.base import Message, Milliseconds, Name, SubjectName, Words

Names = Annotated[list[SubjectName], msgspec.Meta(min_length=1, max_length=500)]


class StopNow(Message, frozen=True, kw_only=True, tag="stop_now"):
    """End all motion of these subjects and stay so until this Stop is cleared, over restarts too. Never ignored, never late."""

    stop: UUID
    subjects: Names
    issued_at_ms: Milliseconds
    by: Words = ""


class ClearStop(Message, frozen=True, kw_only=True, tag="clear_stop"):
    """These subjects are no longer held by this Stop. Another one may still hold them; motion begins by a new episode."""

    stop: UUID
    subjects: Names


class Order(Message, frozen=True, kw_only=True, tag="order"):
    """Something a person asked of one subject: `reset_scene`, `inject_fault`, `clear_fault`. Carried out once for each id."""

    order: UUID
    subject: SubjectName
    name: Name
    arguments: dict[str, str | float | int | bool | None] = {}
    valid_until_ms: Milliseconds = 0  # by the console's clock; 0 is no limit
