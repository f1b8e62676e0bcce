"""Verify: is every fact that was ever sealed still there, unchanged, and in its place?

The database is compared with itself (digests, links, heads), with the tree that was signed, and with whatever checkpoints
somebody kept elsewhere and gives here.
"""

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from typing import Any

import msgspec
import psycopg
from django.db import connection

from apps.journal.lifecycle import Head, faults
from apps.journal.lifecycle.notes import BadNote, Sealed, VerifierKey, read, verify
from apps.journal.models import Event, TailState, Verification
from apps.journal.selectors import as_recorded
from apps.journal.services.seal_folder import SealFolder
from apps.journal.services.walking import MOST_FAULTS, Walk
from apps.journal.types import Fault, Recorded, Verified
from apps.kernel import clock

_STREAMS_AT_ONCE = 200
_LAST = "SELECT max(number) FROM journal_tail"
_HEADS = 'SELECT name, site_id, sequence, digest FROM journal_stream ORDER BY name COLLATE "C"'
# Events after what was walked over, each with its head, read in one statement.
_LATER = """
SELECT event.*, head.sequence AS head_sequence, head.digest AS head_digest
FROM unnest(%s::text[], %s::bigint[]) AS known (name, sequence)
JOIN journal_event event ON event.stream = known.name AND event.sequence > known.sequence
LEFT JOIN journal_stream head ON head.name = event.stream ORDER BY event.stream, event.sequence
"""
# At or below the horizon everything has a number, or was rolled back.
_WITHOUT_NUMBER = """
SELECT event.position, event.stream, event.sequence FROM journal_event event
WHERE event.position <= %s AND NOT EXISTS (SELECT FROM journal_tail tail WHERE tail.position = event.position)
ORDER BY event.position LIMIT %s
"""
_ELSEWHERE = """
SELECT head.name FROM journal_stream head JOIN journal_event first ON first.stream = head.name AND first.sequence = 1
WHERE first.site_id IS DISTINCT FROM head.site_id ORDER BY head.name
"""


def verify_journal(
    folder: SealFolder | None = None, *, against: Iterable[str] = (), keys: Sequence[VerifierKey] = ()
) -> Verified:
    """Walk through everything and say what does not hold, the first in the order of the tail first.

    `folder` is where the console keeps its checkpoints; `against` are checkpoints kept elsewhere, `keys` those that may have
    signed them. Without a folder the checkpoints of the database are used, which its superuser may have changed.
    """
    connection.ensure_connection()
    raw: psycopg.Connection[Any] = connection.connection
    found: list[Fault] = []
    checkpoints = _checkpoints(folder, against, keys, found)
    horizon = TailState.objects.values_list("horizon", flat=True).first() or 0
    with psycopg.Cursor(raw) as cursor:
        last = int((cursor.execute(_LAST).fetchone() or (0,))[0] or 0)
    walk = Walk(folder.read_leaves(2**62) if folder else iter(()), checkpoints, faults=found)
    walk.run(raw, last)
    for position, stream, sequence in _rows(raw, _WITHOUT_NUMBER, [horizon, MOST_FAULTS]):
        walk.note(Fault(f"it has no number, and position {position} was passed by", None, stream, sequence))
    streams, later = _heads(raw, walk)
    for (name,) in _rows(raw, _ELSEWHERE, []):
        walk.note(Fault("the stream is filed under another site than its events", None, name, 1))
    ordered = sorted(walk.faults, key=lambda fault: (fault.number is None, fault.number or 0))
    return Verified(last + later, streams, walk.matched, len(checkpoints), tuple(ordered), walk.more)


def record_verification(found: Verified, *, started_at: datetime, is_seal_checked: bool) -> Verification:
    """Keep what a verification found where pages show it."""
    return Verification.objects.create(
        started_at=started_at,
        ended_at=clock.now(),
        events=found.events,
        sealed=found.sealed,
        faults=[msgspec.to_builtins(fault) for fault in found.faults[:10]],
        is_seal_checked=is_seal_checked,
    )


def _checkpoints(
    folder: SealFolder | None, against: Iterable[str], keys: Sequence[VerifierKey], found: list[Fault]
) -> list[Sealed]:
    """Every checkpoint that is signed by a known key, by size; what is not is a fault."""
    known = [*keys, *(folder.known_keys() if folder else ())]
    given = [*against, *(folder.notes() if folder else _notes_of_the_database(known))]
    sealed: dict[tuple[int, bytes], Sealed] = {}
    for note in given:
        try:
            verify(note, known)
            one = read(note)
        except BadNote as error:
            found.append(Fault(f"a checkpoint is not believed: {error}"))
            continue
        sealed[one.size, one.root] = one
    return sorted(sealed.values(), key=lambda one: one.size)


def _notes_of_the_database(known: list[VerifierKey]) -> list[str]:
    from apps.journal.models import Checkpoint

    rows = list(Checkpoint.objects.order_by("size").values_list("note", "key"))
    known += [VerifierKey.parse(text) for text in dict.fromkeys(key for _, key in rows)]
    return [note for note, _ in rows]


def _heads(raw: "psycopg.Connection[Any]", walk: Walk) -> tuple[int, int]:
    """Compare heads with what was walked over, and walk over what came after it; how many streams, how many such events."""
    left = dict(walk.known)
    behind: list[str] = []
    streams = 0
    for name, _site, sequence, digest in _rows(raw, _HEADS, []):
        streams += 1
        known = left.pop(name, None)
        if known is None:
            if sequence:
                behind.append(name)
        elif known.sequence > sequence:
            walk.note(Fault("the stream goes on past its head", None, name, sequence + 1))
        elif known.sequence < sequence:
            behind.append(name)
        elif known.digest != bytes(digest):
            walk.note(Fault("the head does not match its last event", None, name, sequence))
    for name in left:
        walk.note(Fault("the stream has no head", None, name, 1))
    return streams, sum(_later(raw, walk, behind[at : at + _STREAMS_AT_ONCE]) for at in range(0, len(behind), _STREAMS_AT_ONCE))


def _later(raw: "psycopg.Connection[Any]", walk: Walk, names: list[str]) -> int:
    """Streams whose heads are ahead of the tail: their events that have no number yet; how many."""
    sequences = [walk.known[name].sequence if name in walk.known else 0 for name in names]
    seen: set[str] = set()
    count = 0

    def rows() -> Iterator[tuple[Recorded, Head | None]]:
        nonlocal count
        found: Iterable[Any] = Event.objects.raw(_LATER, [names, sequences])
        for row in found:
            count += 1
            seen.add(row.stream)
            known = row.head_sequence is not None
            yield as_recorded(row), (row.head_sequence, bytes(row.head_digest)) if known else None

    for fault in faults(rows(), walk.known):
        walk.note(Fault(fault.reason, None, fault.stream, fault.sequence))
    for name, sequence in zip(names, sequences, strict=True):
        if name not in seen:
            walk.note(Fault("the stream ends before its head", None, name, sequence + 1))
    return count


def _rows(raw: "psycopg.Connection[Any]", statement: str, values: list[Any]) -> list[tuple[Any, ...]]:
    with psycopg.Cursor(raw) as cursor:
        return cursor.execute(statement, values).fetchall()
