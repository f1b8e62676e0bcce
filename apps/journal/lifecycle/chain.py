"""The digest chain, pure: what a payload may hold, what a digest covers and how a stream is checked."""

import hashlib
import math
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from itertools import groupby
from types import MappingProxyType
from typing import Any, NamedTuple
from uuid import UUID

import msgspec

from apps.journal.types import ChainFault, Recorded
from apps.kernel.errors import Invalid

GENESIS = b"\x00" * 32
CHANGED = "its content does not match its digest"
UNLINKED = "does not follow the event before it"
MOVED = "its position does not follow that of the event before it"
SHORT = "the stream ends before its head"
LARGEST_WHOLE = 2**53 - 1  # a verifier in any language reads these exactly
LARGEST_FLOAT = 1e16  # PostgreSQL gives floats from here on back as whole numbers
DEEPEST = 16
LARGEST_PAYLOAD = 64 * 1024
_ENCODER = msgspec.json.Encoder(order="deterministic")


def encoded(value: object) -> bytes:
    """JSON with sorted keys, without spaces, in UTF-8: the one spelling that digests are made of."""
    return _ENCODER.encode(value)


def plain(payload: dict[str, Any]) -> dict[str, Any]:
    """The payload as PostgreSQL's jsonb will return it, so that the digest can be recomputed for good.

    Raises Invalid, naming the field, for what jsonb refuses or changes: NUL and lone surrogates, numbers that are not
    finite or too large. -0.0 becomes 0.0.
    """
    cleaned = {_text(name, name): _plain(value, name, 1) for name, value in payload.items()}
    if len(encoded(cleaned)) > LARGEST_PAYLOAD:
        raise _unusable("payload", f"It is larger than {LARGEST_PAYLOAD // 1024} KiB.")
    return cleaned


def _plain(value: Any, field: str, depth: int) -> Any:
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return _text(value, field)
    if isinstance(value, int | float):
        return _number(value, field)
    if depth >= DEEPEST:
        raise _unusable(field, f"It is nested more than {DEEPEST} deep.")
    if isinstance(value, dict):
        return {_text(name, field): _plain(item, f"{field}.{name}", depth + 1) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item, f"{field}[{index}]", depth + 1) for index, item in enumerate(value)]
    raise TypeError(f"{field}: {type(value).__name__} is no JSON value")


def _text(value: Any, field: str) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{field}: a key must be text, not {type(value).__name__}")
    if "\x00" in value or any("\ud800" <= character <= "\udfff" for character in value):
        raise _unusable(field, "It holds a character that cannot be stored.")
    return value


def _number(value: float, field: str) -> int | float:
    if isinstance(value, int):
        if abs(value) > LARGEST_WHOLE:
            raise _unusable(field, "The number is too large.")
        return value
    if not math.isfinite(value) or abs(value) >= LARGEST_FLOAT:
        raise _unusable(field, "The number is not finite, or too large.")
    return value + 0.0  # -0.0 + 0.0 is 0.0


def _unusable(field: str, reason: str) -> Invalid:
    return Invalid("This cannot be recorded.", fields={ascii(field)[1:-1][:100]: [reason]})


def canonical_time(at: datetime) -> str:
    """UTC with microseconds, as `2026-01-31T09:30:00.000000Z`."""
    return at.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


def digest_of(
    *,
    previous: bytes,
    id: UUID,
    stream: str,
    sequence: int,
    type: str,
    version: int,
    payload: dict[str, Any],
    site_id: UUID | None,
    actor_kind: str,
    actor_id: UUID | None,
    actor_name: str,
    correlation_id: str,
    recorded_at: datetime,
) -> bytes:
    """SHA-256 over the previous digest (32 bytes) and the event as JSON with sorted keys, without spaces, in UTF-8.

    Times are UTC with microseconds, as `2026-01-31T09:30:00.000000Z`.
    """
    return digest_of_body(
        previous,
        {
            "id": str(id),
            "stream": stream,
            "sequence": sequence,
            "type": type,
            "version": version,
            "payload": payload,
            "site_id": str(site_id) if site_id else None,
            "actor_kind": actor_kind,
            "actor_id": str(actor_id) if actor_id else None,
            "actor_name": actor_name,
            "correlation_id": correlation_id,
            "recorded_at": canonical_time(recorded_at),
        },
    )


def digest_of_body(previous: bytes, body: dict[str, Any]) -> bytes:
    """The same from a body whose ids and time are text already."""
    return hashlib.sha256(previous + encoded(body)).digest()


def recompute(event: Recorded, previous: bytes) -> bytes:
    """The digest that `event` must carry after `previous`."""
    return digest_of(
        previous=previous,
        id=event.id,
        stream=event.stream,
        sequence=event.sequence,
        type=event.type,
        version=event.version,
        payload=event.payload,
        site_id=event.site_id,
        actor_kind=event.actor_kind,
        actor_id=event.actor_id,
        actor_name=event.actor_name,
        correlation_id=event.correlation_id,
        recorded_at=event.recorded_at,
    )


Head = tuple[int, bytes]


class Known(NamedTuple):
    """How far a stream was found to hold."""

    sequence: int = 0
    digest: bytes = GENESIS
    position: int = -(2**63)


NOTHING = Known()


def faults(
    events: Iterable[tuple[Recorded, Head | None]], known: Mapping[str, Known] = MappingProxyType({})
) -> Iterator[ChainFault]:
    """The first fault of each stream. Events come ordered by (stream, sequence), each with the head of its stream.

    An event and its head must be read in one statement, or an append between two reads would look like a fault. A stream
    that is `known` begins after what is known of it.
    """
    for stream, rows in groupby(events, key=lambda row: row[0].stream):
        fault = _fault_in(stream, rows, known.get(stream, NOTHING))
        if fault is not None:
            yield fault


def _fault_in(stream: str, rows: Iterable[tuple[Recorded, Head | None]], known: Known) -> ChainFault | None:
    sequence, digest, position = known
    head = None
    for event, head in rows:
        fault = _fault_of(event, sequence, digest, head)
        if fault is not None:
            return fault
        if event.position <= position:  # the head's lock orders appends, so positions rise within a stream
            return ChainFault(stream, event.sequence, MOVED)
        sequence, digest, position = event.sequence, event.digest, event.position
    if head is not None and sequence < head[0]:
        return ChainFault(stream, sequence + 1, SHORT)
    if head is not None and digest != head[1]:
        return ChainFault(stream, sequence, "the head does not match its last event")
    return None


def _fault_of(event: Recorded, sequence: int, digest: bytes, head: Head | None) -> ChainFault | None:
    """What is wrong with an event that should follow `sequence` and `digest`."""
    if head is None:
        return ChainFault(event.stream, event.sequence, "the stream has no head")
    if event.sequence != sequence + 1:
        return ChainFault(event.stream, sequence + 1, f"sequence {sequence + 1} is missing")
    if event.sequence > head[0]:
        return ChainFault(event.stream, event.sequence, "the stream goes on past its head")
    if event.previous != digest:
        return ChainFault(event.stream, event.sequence, UNLINKED)
    if recompute(event, event.previous) != event.digest:
        return ChainFault(event.stream, event.sequence, CHANGED)
    return None
