"""What a page and its socket say to each other, and why a socket is closed."""

from enum import IntEnum, StrEnum
from typing import Annotated

import msgspec

Position = Annotated[int, msgspec.Meta(ge=0, le=2**53)]
MOST_TOPICS = 64


class Close(IntEnum):
    """Close codes beyond the standard ones."""

    BAD_FRAME = 4400
    SIGNED_OUT = 4401
    NOT_ALLOWED = 4403
    TOO_SLOW = 4408
    TOO_MANY = 4429
    FAULT = 1011
    UNAVAILABLE = 1013


class RefusalCode(StrEnum):
    """Why one topic is not followed. `unknown` is also the answer to whoever may not know that the subject exists."""

    BAD_NAME = "bad_name"
    UNKNOWN = "unknown"
    NOT_ALLOWED = "not_allowed"


class Asked(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One topic a page shows, and how far the page has come."""

    topic: str
    position: Position = 0


class ClientFrame(msgspec.Struct, frozen=True, tag_field="op", forbid_unknown_fields=True):
    """Base of what a page sends."""


class Subscribe(ClientFrame, frozen=True, tag="subscribe"):
    """Follow these topics from these positions."""

    topics: Annotated[list[Asked], msgspec.Meta(max_length=MOST_TOPICS)]


class Unsubscribe(ClientFrame, frozen=True, tag="unsubscribe"):
    """Follow these topics no longer."""

    topics: Annotated[list[Asked], msgspec.Meta(max_length=MOST_TOPICS)]


class Ping(ClientFrame, frozen=True, tag="ping"):
    """Answered with a pong that carries the same `t`."""

    t: float | int = 0


class ServerFrame(msgspec.Struct, frozen=True, tag_field="op"):
    """Base of what a page receives."""


class Subscribed(ServerFrame, frozen=True, tag="subscribed"):
    """These topics are followed from these positions on."""

    topics: list[Asked]


class Refused(ServerFrame, frozen=True, tag="refused"):
    """This topic is not followed."""

    topic: str
    code: RefusalCode


class Fragments(ServerFrame, frozen=True, tag="fragments"):
    """Elements to put into the page: the topic as it is at `position` or later."""

    topic: str
    position: int
    html: str


class Resync(ServerFrame, frozen=True, tag="resync"):
    """As fragments, where the page was too far behind, or ahead: forget what it knew of the topic."""

    topic: str
    position: int
    html: str


class Tick(ServerFrame, frozen=True, tag="tick"):
    """Once a second while the journal can be read: the server's clock and the head of each followed topic."""

    t: int
    head: dict[str, int]


class Pong(ServerFrame, frozen=True, tag="pong"):
    """The answer to a ping."""

    t: float | int


FromPage = Subscribe | Unsubscribe | Ping
