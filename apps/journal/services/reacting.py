"""Reactions: what an app does because of facts, its own or those of the apps below it, after their commit.

    react("fleet.note_stops", {"control.stop_requested"}, handler)

The handler gets each event of these types once, in the order of the tail, inside the transaction that moves the cursor of
the reaction: what it writes to the database is there exactly once, whatever dies when. It may be called again for an
event whose transaction did not commit, so what it does elsewhere must bear that. An event that fails holds up this
reaction alone, is tried again with growing pauses, and is never skipped.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import structlog
from django.db import connection, transaction

from apps.journal.models import Cursor, Event
from apps.journal.selectors import as_recorded
from apps.journal.types import Recorded
from apps.kernel import clock

Handler = Callable[[Recorded], None]
WINDOW = 2000  # numbers looked through at once
BATCH_S = 2.0  # a batch ends after this, so that its transaction stays short
LONGEST_PAUSE_S = 60.0
LONGEST_FAULT = 500
_log = structlog.get_logger(__name__)
_MATCHING = """
SELECT tail.number, event.* FROM journal_tail tail JOIN journal_event event ON event.position = tail.position
WHERE tail.number > %s AND tail.number <= %s AND event.type = ANY(%s) ORDER BY tail.number LIMIT %s
"""
_LAST = "SELECT number FROM journal_tail_state WHERE id = 1"


@dataclass(frozen=True)
class Reaction:
    """A handler with the types it wants and the name its cursor is kept under."""

    name: str
    types: frozenset[str]
    handler: Handler
    from_start: bool = True


_REACTIONS: dict[str, Reaction] = {}


def react(name: str, types: Iterable[str], handler: Handler, *, from_start: bool = True) -> None:
    """Call `handler` with every event of `types`, as this module says. Register in `reactions.py`, once a name.

    A new name begins with the first event there is, or, without `from_start`, with what comes after its first run.
    """
    found = Reaction(name, frozenset(types), handler, from_start)
    if not found.types:
        raise ValueError(f"reaction {name} wants no events")
    if _REACTIONS.setdefault(name, found) != found:
        raise ValueError(f"reaction {name} is registered twice")


def reactions() -> list[Reaction]:
    """Every reaction, by name."""
    return [_REACTIONS[name] for name in sorted(_REACTIONS)]


class Reactor:
    """Moves every reaction on. Two may run: the lock on a cursor's row makes them take turns."""

    def __init__(self) -> None:
        self._not_before: dict[str, float] = {}

    def run(self) -> bool:
        """Give each reaction one batch; whether there is more to do at once."""
        more = False
        for reaction in reactions():
            if clock.monotonic() < self._not_before.get(reaction.name, 0.0):
                continue
            more |= self._advance(reaction)
        return more

    def _advance(self, reaction: Reaction) -> bool:
        try:
            more = _batch(reaction, most=WINDOW)
        except Exception:  # noqa: BLE001 - whatever a handler raises holds up its own reaction only
            more = self._one_by_one(reaction)
        else:
            self._not_before.pop(reaction.name, None)
        return more

    def _one_by_one(self, reaction: Reaction) -> bool:
        """The good events before the bad one are handled for good; the bad one is noted and tried again later."""
        try:
            while _batch(reaction, most=1):
                pass
        except Exception as error:  # noqa: BLE001 - noted where people see it
            failures = _note_fault(reaction, error)
            self._not_before[reaction.name] = clock.monotonic() + min(LONGEST_PAUSE_S, 2.0 ** min(failures, 10) / 2)
            _log.exception("a reaction failed and will be tried again", reaction=reaction.name, failures=failures)
            return False
        return True


def _batch(reaction: Reaction, *, most: int) -> bool:
    """Handle the next events in one transaction; whether there may be more."""
    begun = clock.monotonic()
    with transaction.atomic():
        last = _last_number()
        cursor = _locked(reaction, last)
        end = min(last, cursor.number + WINDOW)
        if end <= cursor.number:
            return False
        rows: list[Any] = list(Event.objects.raw(_MATCHING, [cursor.number, end, sorted(reaction.types), most]))
        reached = end if len(rows) < most else rows[-1].number
        for row in rows:
            reaction.handler(as_recorded(row))
            if clock.monotonic() - begun > BATCH_S:
                reached = row.number if row is not rows[-1] else reached
                break
        Cursor.objects.filter(name=reaction.name).update(number=reached, fault="", failures=0, moved_at=clock.now())
    return reached < last


def _last_number() -> int:
    with connection.cursor() as cursor:
        cursor.execute(_LAST)
        found: Any = cursor.fetchone()
    return int(found[0]) if found else 0


def _locked(reaction: Reaction, last: int) -> Cursor:
    values = {"number": 0 if reaction.from_start else last, "moved_at": clock.now()}
    Cursor.objects.bulk_create([Cursor(name=reaction.name, **values)], ignore_conflicts=True)
    return Cursor.objects.select_for_update().get(name=reaction.name)


def _note_fault(reaction: Reaction, error: Exception) -> int:
    """Keep what is wrong where pages and alarms find it; how often it failed in a row."""
    with transaction.atomic():
        cursor = _locked(reaction, 0)
        words = f"{type(error).__name__}: {error}"[:LONGEST_FAULT].replace("\x00", "")
        Cursor.objects.filter(name=reaction.name).update(fault=words, failures=cursor.failures + 1)
    return cursor.failures + 1
