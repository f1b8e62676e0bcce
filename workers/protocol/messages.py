"""Messages of the edge protocol, version 1."""

from typing import Annotated
from uuid import UUID

import msgspec

Name = Annotated[str, msgspec.Meta(min_length=1, max_length=100)]
SubjectName = Annotated[str, msgspec.Meta(max_length=100)]
Sequence = Annotated[int, msgspec.Meta(ge=0, le=2**53)]
Milliseconds = Annotated[int, msgspec.Meta(ge=0, le=2**53)]


class Message(msgspec.Struct, frozen=True, kw_only=True, tag_field="op", forbid_unknown_fields=True):
    """Base of every message; `op` names its kind."""


class Hello(Message, frozen=True, kw_only=True, tag="hello"):
    """First message of a bridge: who it is, which run of it this is, what it speaks and for whom.

    `boot` is new at each start of the bridge, so that sequences of two runs are never mixed.
    `subjects` are names as the credential binds them; a bridge may come with fewer than all of them.
    """

    bridge: Name
    boot: UUID
    versions: Annotated[list[int], msgspec.Meta(min_length=1, max_length=20)]
    subjects: Annotated[list[SubjectName], msgspec.Meta(max_length=500)] = []
    software: Annotated[str, msgspec.Meta(max_length=100)] = ""


class Heartbeat(Message, frozen=True, kw_only=True, tag="heartbeat"):
    """The bridge lives. `sequence` rises within one boot; `sent_at_ms` is the bridge's own clock."""

    sequence: Sequence
    sent_at_ms: Milliseconds


class Welcome(Message, frozen=True, kw_only=True, tag="welcome"):
    """The hello was accepted in `version`; beat at least every `heartbeat_s`, silence of three beats ends the socket."""

    version: int
    heartbeat_s: float
    server_time_ms: Milliseconds
    subjects: list[SubjectName] = []


class Refused(Message, frozen=True, kw_only=True, tag="refused"):
    """The hello was not accepted, and why. `versions` are those the gateway speaks. The socket is closed after it."""

    code: str
    message: str
    versions: list[int] = []


class Ack(Message, frozen=True, kw_only=True, tag="ack"):
    """The heartbeat with this sequence arrived."""

    sequence: Sequence
    server_time_ms: Milliseconds


FromBridge = Hello | Heartbeat
FromGateway = Welcome | Refused | Ack
