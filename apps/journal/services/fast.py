"""Appending in one statement, for services that are called often: key, head, events, chain and projected row together.

    done = append_fast(actor, "accounts.change_preferences", stream=..., payloads=[fact], key=idempotency_key,
                       request=request, result={}, project=projections.preferences_statement(fact))
    if done is None:
        ...  # the ordinary way: `operation(...)`

It does what `operation` does when nothing is in the way, a single round trip and a single commit. Where something is (the
key was used, the stream is new or went on, a transaction is open), it changes nothing and returns None, and the ordinary
way answers. So it fits services whose decision needs nothing locked: all that is checked against is `expected`.

`project` is one statement that writes rows belonging to this very stream, so that the lock on its head orders it.
"""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

import msgspec
import psycopg
from django.db import connection

from apps.journal.lifecycle import encoded, plain
from apps.journal.lifecycle.chain import canonical_time
from apps.journal.services import keys
from apps.journal.services.appending import MOST_AT_ONCE, NAME_LENGTH, check_name, wake
from apps.journal.types import Payload
from apps.kernel import clock
from apps.kernel.ids import new_id
from apps.kernel.logs import correlation_id
from apps.kernel.types import Actor

Statement = tuple[str, Sequence[Any]]
_IN_THE_WAY = {"PHJ01", "PHJ02", "PHJ03", "PHJ04"}
_CAST = (
    "%s::text, %s::uuid, %s::bigint, %s::uuid, %s::text, %s::text, %s::text, %s::bytea, %s::text, "
    "%s::text, %s::text, %s::uuid, %s::text, %s::text, %s::timestamptz"
)
_APPEND = f"SELECT event_sequence, event_position FROM journal_append({_CAST})"  # noqa: S608


def append_fast(
    actor: Actor,
    verb: str,
    *,
    stream: str,
    payloads: Sequence[Payload],
    site_id: UUID | None = None,
    expected: int | None = None,
    key: str | None = None,
    request: object = None,
    result: dict[str, Any] | None = None,
    project: Statement | None = None,
) -> list[tuple[int, int]] | None:
    """Append and project in one statement; (sequence, position) of each event, or None to take the ordinary way.

    Raises Invalid for what cannot be recorded, and what `operation` raises for a wrong key.
    """
    if connection.in_atomic_block:
        return None
    if not 1 <= len(payloads) <= MOST_AT_ONCE:
        raise ValueError(f"append 1 to {MOST_AT_ONCE} payloads at once, not {len(payloads)}")
    check_name(stream)
    values = [
        *(stream, site_id, expected),
        *_key(actor, verb, key, request, result),
        *_events(actor, stream, payloads, site_id),
    ]
    statement = _APPEND
    if project is not None:
        statement = f"WITH appended AS MATERIALIZED ({_APPEND}), projected AS ({project[0]}) SELECT * FROM appended"  # noqa: S608
        values += project[1]
    found = _run(statement, values)
    if found:
        wake(stream, found[-1][0])
    return found


def _run(statement: str, values: list[Any]) -> list[tuple[int, int]] | None:
    connection.close_if_health_check_failed()
    connection.ensure_connection()
    with connection.wrap_database_errors:
        try:
            with psycopg.Cursor(connection.connection) as cursor:
                return cursor.execute(statement, values, prepare=True).fetchall()
        except psycopg.Error as error:
            if error.sqlstate in _IN_THE_WAY:
                return None
            raise


def _key(actor: Actor, verb: str, key: str | None, request: object, result: dict[str, Any] | None) -> list[Any]:
    if key is None:
        return [None] * 6
    keys.check(key, actor)
    answer = encoded(plain(msgspec.to_builtins(result or {}))).decode()
    return [new_id(), keys.owner(actor), verb, key, keys.digest_of_request(request), answer]


def _events(actor: Actor, stream: str, payloads: Sequence[Payload], site_id: UUID | None) -> list[Any]:
    at, correlation = clock.now(), correlation_id.get()
    name = plain({"actor_name": actor.name[:NAME_LENGTH]})["actor_name"]
    by, site, time = str(actor.id) if actor.id else None, str(site_id) if site_id else None, canonical_time(at)
    rows: list[tuple[str, str, int, str, str, str]] = []
    for payload in payloads:
        id_, body = new_id(), plain(msgspec.to_builtins(payload))
        before = encoded(
            {
                "actor_id": by,
                "actor_kind": actor.kind.value,
                "actor_name": name,
                "correlation_id": correlation,
                "id": str(id_),
                "payload": body,
                "recorded_at": time,
            }
        )
        after = encoded({"site_id": site, "stream": stream, "type": payload.event_type, "version": payload.event_version})
        cut = f'{before[:-1].decode()},"sequence":'
        written = encoded(body).decode()
        rows.append((str(id_), payload.event_type, payload.event_version, written, cut, f",{after[1:].decode()}"))
    # One value: a driver takes longer to write six arrays than the database to read this.
    return [encoded(rows).decode(), actor.kind.value, actor.id, name, correlation, at]
