"""Writing events: two round trips an append, one to lock the head of the stream and one to insert and move it.

Raw SQL, because the ORM needs three more statements and twice the time for the same thing.
"""

import re
from collections.abc import Callable, Sequence
from typing import Any
from uuid import UUID

import msgspec
from django.db import connection, transaction

from apps.journal.lifecycle import GENESIS, digest_of, encoded, plain
from apps.journal.types import Payload, Recorded
from apps.kernel import clock
from apps.kernel.errors import Stale
from apps.kernel.ids import new_id
from apps.kernel.logs import correlation_id
from apps.kernel.types import Actor

NAME_LENGTH = 200
MOST_AT_ONCE = 500
_STREAM = re.compile(r"[a-z][a-z_]*(\.[a-z_]+)+(:[A-Za-z0-9._:-]+)?")
_LOCK = "SELECT sequence, digest, site_id FROM journal_stream WHERE name = %s FOR UPDATE"
_LOCK_SEVERAL = 'SELECT FROM journal_stream WHERE name = ANY(%s) ORDER BY name COLLATE "C" FOR UPDATE'
_OPEN = """
INSERT INTO journal_stream (name, sequence, digest) SELECT name, 0, %s FROM unnest(%s::text[]) AS name
ORDER BY name COLLATE "C" ON CONFLICT (name) DO NOTHING
"""
_COLUMNS = (
    *("id", "stream", "sequence", "type", "version", "payload", "site_id", "actor_kind", "actor_id", "actor_name"),
    *("correlation_id", "recorded_at", "previous", "digest"),
)
_ROW = f"({', '.join('%s::jsonb' if column == 'payload' else '%s' for column in _COLUMNS)})"
_WRITE = """
WITH moved AS (UPDATE journal_stream SET sequence = %s, digest = %s, site_id = %s WHERE name = %s)
INSERT INTO journal_event ({columns}) VALUES {rows} RETURNING sequence, position
"""


def lock(streams: Sequence[str]) -> None:
    """Lock the heads of several streams, making what is missing, in one order for everybody, so that no two wait in a ring.

    Both steps go by name. Whoever waits in the first holds only heads that nobody else can see yet, so that the steps
    cannot block each other either.
    """
    names = sorted(set(streams))
    for name in names:
        check_name(name)
    with connection.cursor() as cursor:
        cursor.execute(_OPEN, [GENESIS, names])
        cursor.execute(_LOCK_SEVERAL, [names])


def append(
    stream: str,
    payloads: Sequence[Payload],
    *,
    actor: Actor,
    site_id: UUID | None = None,
    expected: int | None = None,
) -> list[Recorded]:
    """Append payloads to a stream, inside the caller's transaction. The lock on its head orders concurrent appends.

    Raises Invalid for what cannot be recorded, Stale when the stream is not at `expected`.
    """
    if not connection.in_atomic_block:
        raise RuntimeError("a fact is appended in the transaction of the row it changes")
    if not 1 <= len(payloads) <= MOST_AT_ONCE:
        raise ValueError(f"append 1 to {MOST_AT_ONCE} payloads at once, not {len(payloads)}")
    check_name(stream)
    bodies = [plain(msgspec.to_builtins(payload)) for payload in payloads]
    actor_name = plain({"actor_name": actor.name[:NAME_LENGTH]})["actor_name"]
    with connection.cursor() as cursor:
        sequence, digest = _locked_head(cursor, stream, site_id)
        if expected is not None and sequence != expected:
            raise Stale("Somebody changed this since you looked.")
        recorded = []
        for payload, body in zip(payloads, bodies, strict=True):
            sequence += 1
            facts: dict[str, Any] = {
                "id": new_id(),
                "stream": stream,
                "sequence": sequence,
                "type": payload.event_type,
                "version": payload.event_version,
                "payload": body,
                "site_id": site_id,
                "actor_kind": actor.kind.value,
                "actor_id": actor.id,
                "actor_name": actor_name,
                "correlation_id": correlation_id.get(),
                "recorded_at": clock.now(),
                "previous": digest,
            }
            digest = digest_of(**facts)
            recorded.append(facts | {"digest": digest})
        positions = _write(cursor, recorded, sequence, digest, site_id, stream)
    transaction.on_commit(lambda: wake(stream, sequence), robust=True)
    return [Recorded(position=positions[facts["sequence"]], **facts) for facts in recorded]


def check_name(stream: str) -> None:
    """Raise ValueError for what is no name of a stream."""
    if not _STREAM.fullmatch(stream) or len(stream) > NAME_LENGTH:
        raise ValueError(f"{stream!r} is no name of a stream: use <app>.<noun>:<id>")


def _locked_head(cursor: Any, stream: str, site_id: UUID | None) -> tuple[int, bytes]:
    """Sequence and digest of a stream, which stays locked until the transaction ends."""
    cursor.execute(_LOCK, [stream])
    head = cursor.fetchone()
    if head is None:
        cursor.execute(_OPEN, [GENESIS, [stream]])
        cursor.execute(_LOCK, [stream])
        head = cursor.fetchone()
    sequence, digest, site = head
    if sequence and site != site_id:
        raise ValueError(f"stream {stream} belongs to site {site}, not {site_id}")
    return sequence, bytes(digest)


def _write(
    cursor: Any, recorded: list[dict[str, Any]], sequence: int, digest: bytes, site_id: UUID | None, stream: str
) -> dict[int, int]:
    """Insert the events and move the head; the position of each by its sequence."""
    values: list[Any] = [sequence, digest, site_id, stream]
    for facts in recorded:
        row = facts | {"payload": encoded(facts["payload"]).decode()}
        values += [row[column] for column in _COLUMNS]
    cursor.execute(_WRITE.format(columns=", ".join(_COLUMNS), rows=", ".join([_ROW] * len(recorded))), values)
    return dict(cursor.fetchall())


Listener = Callable[[str, int], None]
_LISTENERS: list[Listener] = []


def on_appended(listener: Listener) -> None:
    """Call `listener(stream, sequence)` after each commit. A listener only wakes something up; it may be lost."""
    _LISTENERS.append(listener)


def wake(stream: str, sequence: int) -> None:
    """Tell listeners that a stream has grown, after the commit."""
    for listener in _LISTENERS:
        listener(stream, sequence)
