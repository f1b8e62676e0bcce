"""Sealing: every few seconds the tree over all numbered events is signed, and the signature put where no database reaches.

What was sealed is never sealed otherwise: a start reads the last checkpoint from the file, and where the database does not
have the tree that was signed, sealing stands still and says so until a person has looked.
"""

from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

import psycopg
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from apps.journal.lifecycle.notes import BadNote, Sealed, VerifierKey, read, sign, verify
from apps.journal.lifecycle.tree import Frontier, leaf_hash
from apps.journal.services.seal_folder import SealFault, SealFolder
from apps.journal.types import Numbered
from apps.kernel import clock

INTERVAL_S = 5.0
CHUNK = 20000
_LEAVES = """
SELECT tail.position, event.digest FROM journal_tail tail LEFT JOIN journal_event event ON event.position = tail.position
WHERE tail.number > %s AND tail.number <= %s ORDER BY tail.number
"""
_KEEP = """
INSERT INTO journal_checkpoint (size, root, frontier, note, key, sealed_at) VALUES (%s, %s, %s, %s, %s, %s)
ON CONFLICT (size) DO NOTHING
"""
_FRONTIER = "SELECT frontier FROM journal_checkpoint WHERE size = %s"
_KEPT = "SELECT size, note, key FROM journal_checkpoint ORDER BY size"


class EventGone(SealFault):
    """An event that has a number is not there."""

    def __init__(self, number: int) -> None:
        super().__init__(f"event {number} of the tail was sealed, or waits for it, and is not there")
        self.number = number


@dataclass(frozen=True)
class Signer:
    """What signs, and under which name."""

    origin: str
    key: Ed25519PrivateKey

    @property
    def verifier(self) -> VerifierKey:
        """The public half."""
        return VerifierKey(self.origin, self.key.public_key().public_bytes_raw())


class Sealer:
    """Seals what the sequencer numbers, on the same connection, which holds the lock on the tail."""

    def __init__(self, connection: "psycopg.Connection[Any]", folder: SealFolder) -> None:
        self.connection = connection
        self.folder = folder
        self.frontier = Frontier()
        self.sealed = 0
        self._signer: Signer | None = None
        self._pending: list[bytes] = []
        self._since = 0.0

    def load(self, number: int) -> None:
        """Start from the last checkpoint, and add what was numbered since, up to `number`.

        Raises SealFault where the database does not have the tree that was signed.
        """
        self.folder.open()
        note = self._last_note()
        last = self._believed(note) if note else None
        self.sealed = last.size if last else 0
        if self.sealed > number:
            raise SealFault(f"{self.sealed} events were sealed and the tail ends at {number}")
        self._signer = self._signer_for(last)
        self._pending, self.frontier = [], Frontier()
        if note and last:
            self.frontier = self._frontier_of(last, note)
            if self.folder.leaf_count() < self.sealed:
                self.folder.add_leaves(0, leaves(self.connection, 0, self.sealed))
        for leaf in leaves(self.connection, self.sealed, number):
            self._add(leaf)

    def add(self, numbered: Iterable[Numbered]) -> None:
        """Take in what was just numbered."""
        for one in numbered:
            self._add(leaf_hash(one.position, one.digest))

    def _add(self, leaf: bytes) -> None:
        if not self._pending:
            self._since = clock.monotonic()
        self._pending.append(leaf)
        self.frontier.add(leaf)

    @property
    def is_due(self) -> bool:
        """Whether an event has waited long enough."""
        return bool(self._pending) and clock.monotonic() - self._since >= INTERVAL_S

    def seal(self) -> str | None:
        """Sign what was added since the last checkpoint; None where nothing was."""
        if not self._pending or self._signer is None:
            return None
        sealed = Sealed(self._signer.origin, self.frontier.size, self.frontier.root(), clock.now())
        note = sign(sealed, self._signer.key)
        # The file first: what it says is what counts, and a start brings the table up to it.
        self.folder.add_leaves(self.sealed, self._pending)
        self.folder.add_checkpoint(note)
        self.sealed, self._pending = sealed.size, []
        self._keep(sealed, note, self._signer.verifier, self.frontier)
        return note

    def _keep(self, sealed: Sealed, note: str, key: VerifierKey, frontier: Frontier) -> None:
        values = [sealed.size, sealed.root, frontier.packed(), note, key.text, sealed.sealed_at]
        with psycopg.Cursor(self.connection) as cursor:
            cursor.execute(_KEEP, values)

    def _last_note(self) -> str | None:
        """The last checkpoint of the file. A folder without one, after a restore, takes over what the database has."""
        last = self.folder.last_note()
        return last if last is not None else self._adopt()

    def _believed(self, note: str) -> Sealed:
        try:
            verify(note, self.folder.known_keys())
            return read(note)
        except BadNote as error:
            raise SealFault(f"the last checkpoint in {self.folder.checkpoints} does not hold: {error}") from error

    def _adopt(self) -> str | None:
        last: str | None = None
        with psycopg.Cursor(self.connection) as cursor:
            for size, note, key in cursor.execute(_KEPT):
                try:
                    found = VerifierKey.parse(key)
                    verify(note, [found])
                except BadNote as error:
                    raise SealFault(f"the checkpoint of {size} events in the database does not hold: {error}") from error
                self.folder.know([found])
                self.folder.add_checkpoint(note)
                last = note
        return last

    def _frontier_of(self, last: Sealed, note: str) -> Frontier:
        """The frontier that gives the signed root: the stored one if it does, else one made from all events again."""
        with psycopg.Cursor(self.connection) as cursor:
            row = cursor.execute(_FRONTIER, [last.size]).fetchone()
        if row is not None:
            with suppress(ValueError):
                found = Frontier.unpacked(last.size, bytes(row[0]))
                if found.root() == last.root:
                    return found
        made = Frontier()
        for leaf in leaves(self.connection, 0, last.size):
            made.add(leaf)
        if made.root() != last.root:
            at = f"{last.sealed_at:%Y-%m-%d %H:%M:%S} UTC"
            raise SealFault(f"the first {last.size} events are not those that were sealed at {at}")
        # A process that died between the file and the table left this to be done.
        self._keep(last, note, verify(note, self.folder.known_keys()), made)
        return made

    def _signer_for(self, last: Sealed | None) -> Signer:
        known = self.folder.known_keys()
        origin = last.origin if last else known[-1].name if known else f"pilothouse.journal/{uuid4()}"
        found = Signer(origin, self.folder.signing_key() or self.folder.make_key(origin))
        self.folder.know([found.verifier])  # a key that came with a backup
        return found


def leaves(connection: "psycopg.Connection[Any]", after: int, last: int) -> Iterator[bytes]:
    """The hashes of leaves `after` + 1 to `last`, in short statements. Raises EventGone for one that is not there."""
    with psycopg.Cursor(connection) as cursor:
        number = after
        while number < last:
            end = min(last, number + CHUNK)
            for position, digest in cursor.execute(_LEAVES, [number, end]):
                number += 1
                if digest is None:
                    raise EventGone(number)
                yield leaf_hash(position, digest)
            if number != end:
                raise EventGone(number + 1)
