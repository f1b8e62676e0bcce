"""Exports: facts with what proves them, as JSON lines that a program of somebody else can check without a console.

    {"export": 1, "origin": ..., "site": ..., "size": ..., "keys": [...]}    first
    {"event": {"number": 1, ...}}                                            in the order of the tail
    {"node": {"begin": 5, "level": 2, "hash": ...}}                          where other sites' events stand: the root over them
    {"checkpoint": "..."}                                                    where the tree has the size that was signed
    {"missing": 5}                                                           instead of the rest, where an event is gone

Events and nodes together give the root at each checkpoint, so that nothing can be changed, left out or put in without
it showing; of other sites nothing is told but how many events they had. `tools/check_proofs.py` does the checking.
"""

import json
from collections.abc import Collection, Iterator
from itertools import islice
from typing import Any
from uuid import UUID

import psycopg
from django.db import connection

from apps.journal.lifecycle.notes import read
from apps.journal.lifecycle.tree import subtree_root, subtrees
from apps.journal.models import Checkpoint
from apps.journal.services.sealing import EventGone, leaves
from apps.kernel.errors import Conflict

FORMAT = 1
CHUNK = 5000
_EVENTS = """
SELECT tail.number, jsonb_build_object('number', tail.number, 'position', event.position, 'id', event.id,
    'stream', event.stream, 'sequence', event.sequence, 'type', event.type, 'version', event.version,
    'payload', event.payload, 'site_id', event.site_id, 'actor_kind', event.actor_kind, 'actor_id', event.actor_id,
    'actor_name', event.actor_name, 'correlation_id', event.correlation_id,
    'recorded_at', to_char(event.recorded_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'),
    'previous', encode(event.previous, 'hex'), 'digest', encode(event.digest, 'hex'))::text
FROM journal_tail tail JOIN journal_event event ON event.position = tail.position
WHERE tail.number > %s AND tail.number <= %s AND (%s::uuid IS NULL OR event.site_id = %s)
ORDER BY tail.number
"""


def export_lines(*, site_id: UUID | None = None, earlier: Collection[int] = ()) -> Iterator[str]:
    """Everything that is sealed, or what concerns one site, up to the last checkpoint.

    `earlier` are sizes of checkpoints that whoever asks already holds: the tree can be compared there, too. Raises
    Conflict where nothing was sealed yet.
    """
    last = Checkpoint.objects.order_by("-size").first()
    if last is None:
        raise Conflict("Nothing is sealed yet. Try again in ten seconds.", code="not_sealed")
    return _lines(last.size, read(last.note).origin, site_id, _boundaries(last.size, site_id, earlier))


def _boundaries(size: int, site_id: UUID | None, earlier: Collection[int]) -> list[tuple[int, str]]:
    """The checkpoints that are told, by size: all of them, or where that would cut the tree small, one a day."""
    rows = Checkpoint.objects.filter(size__lte=size).order_by("size").values_list("size", "note", "sealed_at")
    if site_id is None:
        return [(at, note) for at, note, _ in rows]
    daily: dict[Any, tuple[int, str]] = {}
    asked: list[tuple[int, str]] = []
    for at, note, sealed_at in rows:
        daily[sealed_at.date()] = (at, note)
        if at in earlier:
            asked.append((at, note))
    return sorted({*daily.values(), *asked})


def _lines(size: int, origin: str, site_id: UUID | None, checkpoints: list[tuple[int, str]]) -> Iterator[str]:
    keys = Checkpoint.objects.order_by("key").values_list("key", flat=True).distinct()
    yield _line(
        {"export": FORMAT, "origin": origin, "site": str(site_id) if site_id else None, "size": size, "keys": list(keys)}
    )
    done = 0
    try:
        for at, note in checkpoints:
            yield from _range(done, at, site_id)
            yield _line({"checkpoint": note})
            done = at
    except EventGone as gone:  # whoever checks the export is told, instead of getting none
        yield _line({"missing": gone.number})


def _range(begin: int, end: int, site_id: UUID | None) -> Iterator[str]:
    """Events and nodes for the leaves from `begin` to `end`, counted from 0."""
    done = begin
    for number, event in _events(begin, end, site_id):
        if site_id is None and number != done + 1:
            raise EventGone(done + 1)
        yield from _nodes(done, number - 1)
        yield f'{{"event":{event}}}\n'
        done = number
    if site_id is None and done != end:
        raise EventGone(done + 1)
    yield from _nodes(done, end)


def _events(begin: int, end: int, site_id: UUID | None) -> Iterator[tuple[int, str]]:
    connection.ensure_connection()
    raw: psycopg.Connection[Any] = connection.connection
    for at in range(begin, end, CHUNK):
        with psycopg.Cursor(raw) as cursor:
            yield from cursor.execute(_EVENTS, [at, min(end, at + CHUNK), site_id, site_id]).fetchall()


def _nodes(begin: int, end: int) -> Iterator[str]:
    if begin == end:
        return
    found = leaves(connection.connection, begin, end)
    for first, level in subtrees(begin, end):
        root = subtree_root(list(islice(found, 1 << level)))
        yield _line({"node": {"begin": first, "level": level, "hash": root.hex()}})


def _line(value: dict[str, Any]) -> str:
    return json.dumps(value, separators=(",", ":")) + "\n"
