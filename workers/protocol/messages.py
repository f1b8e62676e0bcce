"""Messages of the edge protocol, version 1: the socket's own, and the union of all that either end may send."""

from typing import Annotated
from uuid import UUID

import msgspec

from workers.protocol.base import Message, Milliseconds, Name, Sequence, SubjectName
from workers.protocol.facts import Facts, FactsTaken, Resume
from workers.protocol.orders import ClearStop, Order, StopNow
from workers.protocol.samples import Picture, Report, States
from workers.protocol.subjects import Described, RefusedSubject


class Hello(Message, frozen=True, kw_only=True, tag="hello"):
    """First message of a bridge: who it is, which run of it this is, what it speaks and for whom.

    `boot` is new at each start of the bridge, so that sequences of two runs are never mixed.
    `subjects` are names as the credential binds them (`robot:<uuid>`); a bridge may come with fewer than all of them.
    Later messages name a subject by its place in this list. `described` says what each of them is and measures.
    """

    bridge: Name
    boot: UUID
    versions: Annotated[list[int], msgspec.Meta(min_length=1, max_length=20)]
    subjects: Annotated[list[SubjectName], msgspec.Meta(max_length=500)] = []
    described: Annotated[list[Described], msgspec.Meta(max_length=500)] = []
    software: Annotated[str, msgspec.Meta(max_length=100)] = ""


class Heartbeat(Message, frozen=True, kw_only=True, tag="heartbeat"):
    """The bridge lives. `sequence` rises within one boot; `sent_at_ms` is the bridge's own clock.

    `offset_ms` is what the bridge would add to its clock to get the console's, from the round trip with the least delay
    it saw lately; `round_trip_ms` is that delay. `spooled` counts facts on its disk that nobody has taken yet.
    """

    sequence: Sequence
    sent_at_ms: Milliseconds
    offset_ms: float | None = None
    round_trip_ms: float | None = None
    spooled: int = 0


class Welcome(Message, frozen=True, kw_only=True, tag="welcome"):
    """The hello was accepted in `version`; beat at least every `heartbeat_s`, silence of three beats ends the socket.

    `subjects` are those this bridge now speaks for; each of `refused` says why it does not speak for that one. `resume`
    tells how far the facts of each boot were taken, so that the bridge sends what comes after and nothing before.
    """

    version: int
    heartbeat_s: float
    server_time_ms: Milliseconds
    subjects: list[SubjectName] = []
    refused: list[RefusedSubject] = []
    resume: list[Resume] = []


class Refused(Message, frozen=True, kw_only=True, tag="refused"):
    """The hello was not accepted, and why. `versions` are those the gateway speaks. The socket is closed after it."""

    code: str
    message: str
    versions: list[int] = []


class Ack(Message, frozen=True, kw_only=True, tag="ack"):
    """The heartbeat with this sequence arrived; `sent_at_ms` is the bridge's own time in it, given back."""

    sequence: Sequence
    server_time_ms: Milliseconds
    sent_at_ms: Milliseconds = 0


class Rejected(Message, frozen=True, kw_only=True, tag="rejected"):
    """One sample was not taken: which, which field, and why. The socket stays open."""

    subject: int
    sequence: Sequence
    field: str
    reason: str


FromBridge = Hello | Heartbeat | States | Report | Picture | Facts
FromGateway = Welcome | Refused | Ack | Rejected | FactsTaken | StopNow | ClearStop | Order
