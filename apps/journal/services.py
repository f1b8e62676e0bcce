"""Appending facts. A service opens `operation(...)`, appends and projects inside it, and gets the same result on a retry."""

import hashlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

import msgspec
from django.db import connection, transaction

from apps.journal.lifecycle import GENESIS, digest_of
from apps.journal.models import Event, IdempotencyKey, Stream
from apps.journal.types import Payload, Recorded
from apps.kernel import clock
from apps.kernel.errors import Conflict, Invalid, Stale
from apps.kernel.ids import new_id
from apps.kernel.logs import correlation_id
from apps.kernel.types import Actor

KEY_LENGTH = 100
_ENCODER = msgspec.json.Encoder(order="deterministic")


@dataclass
class Operation:
    """One unit of work: a transaction, an idempotency key, the events appended so far."""

    actor: Actor
    verb: str
    replayed: Any = None
    _key: IdempotencyKey | None = None
    _result: Any = None
    events: list[Recorded] = field(default_factory=list)

    @property
    def is_replay(self) -> bool:
        """Whether the key was used before, so that nothing may be done again."""
        return self.replayed is not None

    def append(
        self, stream: str, payloads: Sequence[Payload], *, site_id: UUID | None = None, expected: int | None = None
    ) -> list[Recorded]:
        """Append to one stream. Raises Stale when the stream is not at `expected`."""
        recorded = append(stream, payloads, actor=self.actor, site_id=site_id, expected=expected)
        self.events += recorded
        return recorded

    def done(self, result: dict[str, Any]) -> dict[str, Any]:
        """Keep the result (plain JSON values) for a retry with the same key, and return it."""
        self._result = msgspec.to_builtins(result)
        return result


@contextmanager
def operation(actor: Actor, verb: str, *, key: str | None = None, request: object = None) -> Iterator[Operation]:
    """Open a transaction for one act of one actor.

    With a `key`, a second call waits for the first, then yields an operation whose `replayed` holds the first result.
    Raises Invalid for an overlong key, Conflict when the key was used for another request.
    """
    if key is not None and (not 1 <= len(key) <= KEY_LENGTH or not key.isprintable()):
        raise Invalid("The idempotency key is wrong.", fields={"idempotency_key": ["Give 1 to 100 printable characters."]})
    with transaction.atomic():
        unit = Operation(actor, verb)
        if key is not None:
            _take_key(unit, key, hashlib.sha256(_ENCODER.encode(request)).digest())
        yield unit
        if unit._key is not None and not unit.is_replay:
            unit._key.result = unit._result if unit._result is not None else {}
            unit._key.save(update_fields=["result"])


def _take_key(unit: Operation, key: str, request: bytes) -> None:
    """Insert the key, or read what its first use answered. The unique index makes the second caller wait."""
    actor = f"{unit.actor.kind}:{unit.actor.id or unit.actor.name}"
    row = IdempotencyKey(actor=actor, verb=unit.verb, key=key, request=request, created_at=clock.now())
    inserted = IdempotencyKey.objects.bulk_create([row], ignore_conflicts=True)
    found = IdempotencyKey.objects.get(actor=actor, verb=unit.verb, key=key)
    if found.id == inserted[0].id:
        unit._key = found
        return
    if bytes(found.request) != request:
        raise Conflict("This idempotency key was used for another request.", code="key_reused")
    unit.replayed = found.result if found.result is not None else {}


def append(
    stream: str,
    payloads: Sequence[Payload],
    *,
    actor: Actor,
    site_id: UUID | None = None,
    expected: int | None = None,
) -> list[Recorded]:
    """Append payloads to a stream, inside the caller's transaction. The stream's row lock orders concurrent appends."""
    if not connection.in_atomic_block:
        raise RuntimeError("a fact is appended in the transaction of the row it changes")
    Stream.objects.bulk_create([Stream(name=stream, site_id=site_id, digest=GENESIS)], ignore_conflicts=True)
    head = Stream.objects.select_for_update().get(name=stream)
    if expected is not None and head.sequence != expected:
        raise Stale("Somebody changed this since you looked.")
    sequence, digest = head.sequence, bytes(head.digest)
    recorded = []
    for payload in payloads:
        sequence += 1
        facts: dict[str, Any] = {
            "id": new_id(),
            "stream": stream,
            "sequence": sequence,
            "type": payload.event_type,
            "version": payload.event_version,
            "payload": msgspec.to_builtins(payload),
            "site_id": site_id,
            "actor_kind": actor.kind.value,
            "actor_id": actor.id,
            "actor_name": actor.name,
            "correlation_id": correlation_id.get(),
            "recorded_at": clock.now(),
            "previous": digest,
        }
        digest = digest_of(**facts)
        recorded.append(Event(**facts, digest=digest))
    Event.objects.bulk_create(recorded)
    head.sequence, head.digest = sequence, digest
    head.save(update_fields=["sequence", "digest"])
    transaction.on_commit(lambda: _wake(stream, sequence), robust=True)
    return [as_recorded(event) for event in recorded]


def as_recorded(event: Event) -> Recorded:
    """A row as the frozen type that leaves the journal."""
    return Recorded(
        position=event.position,
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
        previous=bytes(event.previous),
        digest=bytes(event.digest),
    )


_LISTENERS: list[Any] = []


def on_appended(listener: Any) -> None:
    """Call `listener(stream, sequence)` after each commit. A listener only wakes something up; it may be lost."""
    _LISTENERS.append(listener)


def _wake(stream: str, sequence: int) -> None:
    for listener in _LISTENERS:
        listener(stream, sequence)
