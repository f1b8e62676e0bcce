"""The digest chain, pure: what a digest covers and how a stream is checked."""

import hashlib
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import msgspec

from apps.journal.types import ChainFault, Recorded

GENESIS = b"\x00" * 32
_ENCODER = msgspec.json.Encoder(order="deterministic")


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
    body = {
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
        "recorded_at": recorded_at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ"),
    }
    return hashlib.sha256(previous + _ENCODER.encode(body)).digest()


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


def faults(events: Iterable[Recorded], heads: dict[str, tuple[int, bytes]]) -> Iterator[ChainFault]:
    """Check events ordered by (stream, sequence) against each other and against the stream heads."""
    seen: dict[str, tuple[int, bytes]] = {}
    bad: set[str] = set()
    for event in events:
        sequence, digest = seen.get(event.stream, (0, GENESIS))
        seen[event.stream] = (event.sequence, event.digest)
        if event.stream in bad:
            continue
        reason = ""
        if event.sequence != sequence + 1:
            reason = f"sequence {sequence + 1} is missing"
        elif event.previous != digest:
            reason = "does not follow the event before it"
        elif recompute(event, event.previous) != event.digest:
            reason = "its content does not match its digest"
        if reason:
            bad.add(event.stream)
            yield ChainFault(event.stream, event.sequence if "missing" not in reason else sequence + 1, reason)
    for stream, (sequence, digest) in heads.items():
        if stream not in bad and sequence and seen.get(stream, (0, GENESIS)) != (sequence, digest):
            yield ChainFault(stream, seen.get(stream, (0, GENESIS))[0] + 1, "the stream ends before its head")
