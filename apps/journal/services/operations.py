"""One act of one actor: a transaction, its idempotency key, the events it appends."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

import msgspec
from django.db import transaction

from apps.journal.lifecycle import plain
from apps.journal.services import appending, keys
from apps.journal.types import Payload, Recorded
from apps.kernel.types import Actor

# Streams the outermost operation holds; one opened inside it takes part in the same transaction.
_held: ContextVar[set[str] | None] = ContextVar("journal_streams_held", default=None)


@dataclass
class Operation:
    """One unit of work."""

    actor: Actor
    verb: str
    replayed: Any = None
    events: list[Recorded] = field(default_factory=list)
    _key: UUID | None = None
    _result: dict[str, Any] = field(default_factory=dict)
    _streams: set[str] = field(default_factory=set)

    @property
    def is_replay(self) -> bool:
        """Whether the key was used before, so that nothing may be done again."""
        return self.replayed is not None

    def lock(self, *streams: str) -> None:
        """Lock every stream this operation will append to, before the first append. Needed where there are several."""
        if not self._streams.issuperset(streams):
            if self._streams:
                raise RuntimeError("lock all streams of an operation at once: locks taken one by one can wait in a ring")
            appending.lock(streams)
            self._streams.update(streams)

    def append(
        self, stream: str, payloads: Sequence[Payload], *, site_id: UUID | None = None, expected: int | None = None
    ) -> list[Recorded]:
        """Append to one stream. Raises Stale when the stream is not at `expected`, Invalid for what cannot be recorded."""
        if self._streams and stream not in self._streams:
            raise RuntimeError(f"this operation holds other streams: name {stream} in lock() before the first append")
        self._streams.add(stream)
        recorded = appending.append(stream, payloads, actor=self.actor, site_id=site_id, expected=expected)
        self.events += recorded
        return recorded

    def done(self, result: dict[str, Any]) -> dict[str, Any]:
        """Keep the result for a retry with the same key, and return it as that retry will see it (plain JSON values)."""
        self._result = plain(msgspec.to_builtins(result))
        return self._result


@contextmanager
def operation(actor: Actor, verb: str, *, key: str | None = None, request: object = None) -> Iterator[Operation]:
    """Open a transaction for one act of one actor.

    With a `key`, a second call waits for the first, then yields an operation whose `replayed` holds the first result.
    A refusal raised inside rolls everything back, the key too. Raises Invalid for an overlong key, NotSignedIn for the
    key of a stranger, Conflict when the key was used for another request.
    """
    if key is not None:
        keys.check(key, actor)
    outer = _held.get()
    streams: set[str] = set() if outer is None else outer
    token = _held.set(streams)
    try:
        with transaction.atomic():
            unit = Operation(actor, verb, _streams=streams)
            if key is not None:
                unit._key, unit.replayed = keys.take(actor, verb, key, request)
            yield unit
            if unit._key is not None:
                keys.keep(unit._key, unit._result)
    finally:
        _held.reset(token)
