"""The one order over all streams: each event gets its number, without gaps, once its transaction has committed.

Positions are drawn before the commit, so they show up out of order, and some never do. What is missing between two
positions that were seen is a *hole*. A hole is looked at again at every step until no transaction is left that wrote to
the event table when the hole was first seen: only then can nothing come to light there any more. So nobody waits for a
transaction that stands still, and none is skipped when it commits at last.

Within a stream, numbers follow sequences: whoever writes the next event has waited for the commit of the one before and
drawn a higher position, so that a read that shows it shows the other, too.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import psycopg

from apps.journal.types import Numbered
from apps.kernel import clock

MOST_AT_ONCE = 5000
HEARTBEAT_S = 0.5
_STATE = "SELECT number, horizon FROM journal_tail_state WHERE id = 1"
_FIRST = """
INSERT INTO journal_tail_state (id, number, horizon, caught_up_at, seal_fault) VALUES (1, 0, 0, 'epoch', '')
ON CONFLICT DO NOTHING
"""
_TOP = "SELECT max(number), max(position) FROM journal_tail"
# The positions after the horizon that have no number yet, between those that have one.
_HOLES = """
SELECT position + 1, next - 1 FROM (
    SELECT position, lead(position) OVER (ORDER BY position) AS next
    FROM (SELECT %s::bigint AS position UNION ALL SELECT position FROM journal_tail WHERE position > %s) AS numbered
) AS pairs WHERE next > position + 1 ORDER BY position
"""
_COLUMNS = "event.position, event.stream, event.sequence, event.type, event.digest"
_NEW = f"SELECT {_COLUMNS} FROM journal_event event WHERE event.position > %s ORDER BY event.position LIMIT %s"  # noqa: S608
# One statement, so that both halves see the same transactions.
_NEW_AND_LATE = f"""
SELECT * FROM (
    (SELECT {_COLUMNS} FROM journal_event event WHERE event.position > %s ORDER BY event.position LIMIT %s)
    UNION ALL
    SELECT {_COLUMNS} FROM unnest(%s::bigint[], %s::bigint[]) AS hole (low, high)
    JOIN journal_event event ON event.position BETWEEN hole.low AND hole.high
) AS found ORDER BY position LIMIT %s
"""  # noqa: S608
_WRITERS = """
SELECT DISTINCT virtualtransaction FROM pg_locks
WHERE locktype = 'relation' AND relation = 'journal_event'::regclass AND mode = 'RowExclusiveLock' AND granted
AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
"""
_WRITE = """
WITH numbered AS (
    INSERT INTO journal_tail (number, position) SELECT * FROM unnest(%s::bigint[], %s::bigint[])
)
UPDATE journal_tail_state SET number = %s, horizon = %s,
    caught_up_at = CASE WHEN %s THEN clock_timestamp() - make_interval(secs => %s) ELSE caught_up_at END
WHERE id = 1 AND number = %s
"""


@dataclass(frozen=True)
class Hole:
    """Positions from `low` to `high` that were drawn and not seen. `waiting` are the transactions that may still fill it."""

    low: int
    high: int
    waiting: frozenset[str] | None = None  # None: seen just now, not asked yet


class Sequencer:
    """Numbers events. One at a time: whoever steps it holds the tail's lock on this very connection.

    After any error it must be loaded again: what it holds in memory may be ahead of the database then.
    """

    def __init__(self, connection: "psycopg.Connection[Any]") -> None:
        self.connection = connection
        self.number = 0
        self.top = 0
        self.holes: list[Hole] = []
        self._noted = 0.0
        self._horizon = 0

    def load(self) -> None:
        """Read how far the tail has come."""
        with psycopg.Cursor(self.connection) as cursor:
            cursor.execute(_FIRST)
            number, horizon = _one(cursor.execute(_STATE))
            last, top = _one(cursor.execute(_TOP))
            if (last or 0) != number:
                raise RuntimeError(f"the tail ends at {last or 0} and its state says {number}")
            self.number, self._horizon = number, horizon
            self.top = max(horizon, top or 0)
            self.holes = [Hole(low, high) for low, high in cursor.execute(_HOLES, [horizon, horizon])]

    def step(self, most: int = MOST_AT_ONCE) -> list[Numbered]:
        """Number what has committed, `most` events at once, and return it in order."""
        begun = clock.monotonic()
        with psycopg.Cursor(self.connection) as cursor:
            holes = self._watched(cursor)
            found = self._read(cursor, holes, most)
            complete = len(found) < most
            numbered = [Numbered(self.number + place, *row) for place, row in enumerate(found, start=1)]
            top = max(self.top, numbered[-1].position) if numbered else self.top
            decided = top if complete else numbered[-1].position
            left = _remaining(holes, numbered, decided) + _new_holes(self.top, numbered)
            horizon = left[0].low - 1 if left else top
            if numbered or horizon != self._horizon or begun - self._noted >= HEARTBEAT_S:
                self._write(cursor, numbered, horizon, caught_up=complete, begun=begun)
        self.number += len(numbered)
        self.top, self.holes, self._horizon = top, left, horizon
        return numbered

    def _watched(self, cursor: "psycopg.Cursor[Any]") -> list[Hole]:
        """The holes, each with those of its transactions that have not ended. Asked before the read: who has ended by now
        is seen by it, or has filled nothing."""
        if not self.holes:
            return []
        writers = frozenset(name for (name,) in cursor.execute(_WRITERS))
        return [replace(hole, waiting=writers if hole.waiting is None else hole.waiting & writers) for hole in self.holes]

    def _read(self, cursor: "psycopg.Cursor[Any]", holes: list[Hole], most: int) -> list[Any]:
        if not holes:
            return cursor.execute(_NEW, [self.top, most]).fetchall()
        lows, highs = [hole.low for hole in holes], [hole.high for hole in holes]
        return cursor.execute(_NEW_AND_LATE, [self.top, most, lows, highs, most]).fetchall()

    def _write(
        self, cursor: "psycopg.Cursor[Any]", numbered: list[Numbered], horizon: int, *, caught_up: bool, begun: float
    ) -> None:
        numbers, positions = [one.number for one in numbered], [one.position for one in numbered]
        last, age = self.number + len(numbered), clock.monotonic() - begun
        cursor.execute(_WRITE, [numbers, positions, last, horizon, caught_up, age, self.number])
        if cursor.rowcount != 1:
            raise RuntimeError("somebody else moved the tail")
        self._noted = begun


def _one(cursor: "psycopg.Cursor[Any]") -> Any:
    row = cursor.fetchone()
    if row is None:
        raise RuntimeError("the tail has no state")
    return row


def _remaining(holes: Iterable[Hole], numbered: Iterable[Numbered], decided: int) -> list[Hole]:
    """What is left of the holes: without what was just numbered, and without those that nobody can fill any more."""
    filled = [one.position for one in numbered]
    left: list[Hole] = []
    for hole in holes:
        if hole.waiting is not None and not hole.waiting and hole.high <= decided:
            continue
        low = hole.low
        for position in filled[bisect_left(filled, hole.low) : bisect_right(filled, hole.high)]:
            if position > low:
                left.append(Hole(low, position - 1, hole.waiting))
            low = position + 1
        if low <= hole.high:
            left.append(Hole(low, hole.high, hole.waiting))
    return left


def _new_holes(top: int, numbered: Iterable[Numbered]) -> list[Hole]:
    """What was skipped by positions above `top`."""
    holes: list[Hole] = []
    for one in numbered:
        if one.position > top + 1:
            holes.append(Hole(top + 1, one.position - 1))
        top = max(top, one.position)
    return holes
