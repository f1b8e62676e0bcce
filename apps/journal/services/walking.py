"""One pass over the journal in the order of the tail: every digest, every link, every leaf, the root at every checkpoint.

Short statements, so that it runs beside appends, and plain tuples, so that a million events take seconds.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec
import psycopg

from apps.journal.lifecycle.chain import CHANGED, MOVED, NOTHING, UNLINKED, Known, digest_of_body
from apps.journal.lifecycle.notes import Sealed
from apps.journal.lifecycle.tree import Frontier, leaf_hash
from apps.journal.types import Fault

CHUNK = 20000
MOST_FAULTS = 100
_EVENTS = """
SELECT tail.number, tail.position, event.stream, event.sequence, event.previous, event.digest, event.payload::text,
    event.id::text, event.type, event.version, event.site_id::text, event.actor_kind, event.actor_id::text,
    event.actor_name, event.correlation_id,
    to_char(event.recorded_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')
FROM journal_tail tail LEFT JOIN journal_event event ON event.position = tail.position
WHERE tail.number > %s AND tail.number <= %s ORDER BY tail.number
"""


@dataclass
class Walk:
    """Goes over numbered events, with the hashes and checkpoints kept outside the database beside it."""

    leaves: Iterator[bytes]
    checkpoints: Sequence[Sealed]  # by size
    known: dict[str, Known] = field(default_factory=dict)
    faults: list[Fault] = field(default_factory=list)
    more: int = 0
    number: int = 0
    matched: int = 0  # the size of the last checkpoint whose root is right
    _tree: Frontier = field(default_factory=Frontier)
    _outside: Frontier | None = None  # the tree of the hashes outside, from where it differs
    _differing: list[Fault] = field(default_factory=list)
    _next: int = 0
    _lost: bool = False  # some hash outside is missing
    _diverged: bool = False

    def run(self, connection: "psycopg.Connection[Any]", last: int) -> None:
        """Walk over numbers 1 to `last`."""
        with psycopg.Cursor(connection) as cursor:
            for after in range(0, last, CHUNK):
                end = min(last, after + CHUNK)
                for row in cursor.execute(_EVENTS, [after, end], binary=True):
                    self._step(row)
                self._gap(end + 1)
        self._end()

    def note(self, fault: Fault) -> None:
        """Keep a fault, or count it where there are many."""
        if len(self.faults) < MOST_FAULTS:
            self.faults.append(fault)
        else:
            self.more += 1

    def _step(self, row: tuple[Any, ...]) -> None:
        number, position, stream, sequence, _previous, digest = row[:6]
        self._gap(number)
        self.number = number
        if digest is None:
            self.note(Fault("it is in the tail and not in the journal", number))
            self._leaf(b"", Fault("it is not there", number))
            return
        self._chain(row)
        self._leaf(leaf_hash(position, digest), Fault("it is not what was sealed", number, stream, sequence))

    def _gap(self, number: int) -> None:
        """Numbers that are missing before this one."""
        while self.number + 1 < number:
            self.number += 1
            fault = Fault("the tail has no event of this number", self.number)
            self.note(fault)
            self._leaf(b"", fault)

    def _chain(self, row: tuple[Any, ...]) -> None:
        number, position, stream, sequence, previous, digest, payload = row[:7]
        known = self.known.get(stream, NOTHING)
        reason = ""
        if sequence != known.sequence + 1:
            reason = (
                f"sequence {known.sequence + 1} is missing" if sequence > known.sequence else "its sequence was there before"
            )
        elif previous != known.digest:
            reason = UNLINKED
        elif digest_of_body(previous, _body(row, payload)) != digest:
            reason = CHANGED
        elif position <= known.position:
            reason = MOVED
        if reason:
            self.note(Fault(reason, number, stream, sequence))
        self.known[stream] = Known(sequence, digest, position)

    def _leaf(self, leaf: bytes, fault: Fault) -> None:
        """Add a leaf, and the one outside where it is another."""
        outside = next(self.leaves, None)
        if outside is not None and outside != leaf:
            if self._outside is None:
                self._outside = Frontier(self._tree.size, self._tree.hashes)
            self._differing.append(fault)
        self._tree.add(leaf)
        if self._outside is not None:
            if outside is None:
                self._lost = True
            self._outside.add(outside or b"")
        while self._next < len(self.checkpoints) and self.checkpoints[self._next].size == self._tree.size:
            self._compare(self.checkpoints[self._next])
            self._next += 1

    def _compare(self, sealed: Sealed) -> None:
        if self._tree.root() == sealed.root:
            self.matched = sealed.size
            for fault in self._differing:
                self.note(Fault("the hash kept outside the database was changed, the event was not", fault.number))
            self._differing, self._outside = [], None
        elif self._outside is not None and not self._lost and self._outside.root() == sealed.root:
            # The hashes outside are those that were sealed, so each event that differs is known.
            self._take_differing()
        elif not self._diverged:
            at = f"{sealed.sealed_at:%Y-%m-%d %H:%M:%S} UTC"
            reason = f"events {self.matched + 1} to {sealed.size} are not those that were sealed at {at}"
            self.note(Fault(reason, self.matched + 1))
            self._take_differing()
            self._diverged = True

    def _take_differing(self) -> None:
        named = {fault.number for fault in self.faults}
        for fault in self._differing:
            if fault.number not in named:
                self.note(fault)
        self._differing = []

    def _end(self) -> None:
        for sealed in self.checkpoints[self._next :]:
            if sealed.size > self.number:
                at = f"{sealed.sealed_at:%Y-%m-%d %H:%M:%S} UTC"
                reason = f"it is not there, and {sealed.size} events were sealed at {at}"
                self.note(Fault(reason, self.number + 1))
                return


def _body(row: tuple[Any, ...], payload: str) -> dict[str, Any]:
    id_, type_, version, site, kind, actor, name, correlation, at = row[7:]
    return {
        "id": id_,
        "stream": row[2],
        "sequence": row[3],
        "type": type_,
        "version": version,
        "payload": msgspec.json.decode(payload),
        "site_id": site,
        "actor_kind": kind,
        "actor_id": actor,
        "actor_name": name,
        "correlation_id": correlation,
        "recorded_at": at,
    }
