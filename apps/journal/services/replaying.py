"""Replay: every projected table made again from the facts alone, beside the live one, and the two compared.

An app registers its tables and how one stored event is applied to them:

    projection("accounts", {"accounts_person": {"password", "last_login"}, "accounts_site": ()}, projections.apply_recorded)

The columns named are no facts and are left out of the comparison. A replay makes an empty temporary table of each name,
which hides the live one from everything that runs in this transaction, then forbids every other write, applies all events,
compares, and rolls back: nothing live can be touched, whatever a projection does.
"""

from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from django.db import connection, transaction

from apps.journal.models import Event
from apps.journal.selectors import as_recorded
from apps.journal.types import Recorded, Replayed

Rebuild = Callable[[Recorded], object]
CHUNK = 2000
EXAMPLES = 3
LONGEST_EXAMPLE = 300
_SETTINGS = "SET LOCAL transaction_timeout = 0; SET LOCAL statement_timeout = 0; SET LOCAL lock_timeout = '5s'"
_LINES = "SELECT (to_jsonb(row) - %s::text[])::text AS line FROM {} AS row"
_DIGEST = """
SELECT count(*), encode(sha256(convert_to(coalesce(string_agg(md5(line), '' ORDER BY md5(line)), ''), 'UTF8')), 'hex')
FROM ({lines}) AS rows
"""
_ONLY = "({first}) EXCEPT ALL ({second}) ORDER BY 1 LIMIT %s"


@dataclass(frozen=True)
class Projection:
    """Tables that follow from facts, each with its columns that do not, and how a fact is applied."""

    name: str
    tables: Mapping[str, frozenset[str]]
    rebuild: Rebuild


_PROJECTIONS: dict[str, Projection] = {}


def projection(name: str, tables: Mapping[str, Collection[str]] | Iterable[str], rebuild: Rebuild) -> None:
    """Register the projected tables of an app. `rebuild` is given every event there is and leaves alone what is not its."""
    columns = tables if isinstance(tables, Mapping) else dict.fromkeys(tables, ())
    found = Projection(name, {table: frozenset(left_out) for table, left_out in columns.items()}, rebuild)
    taken = {table for other in _PROJECTIONS.values() if other.name != name for table in other.tables}
    if taken & set(found.tables):
        raise ValueError(f"projection {name} names tables of another one: {sorted(taken & set(found.tables))}")
    if _PROJECTIONS.setdefault(name, found) != found:
        raise ValueError(f"projection {name} is registered twice")


def projections() -> list[Projection]:
    """Every projection, by name."""
    return [_PROJECTIONS[name] for name in sorted(_PROJECTIONS)]


def use_owner_role(database: Mapping[str, Any]) -> None:
    """Speak to the database as another role from now on. For a command that has not asked anything yet."""
    connection.close()
    connection.settings_dict.update(database)


class _Done(Exception):
    """Ends the transaction without keeping anything of it."""


def replay(*, names: Collection[str] | None = None, say: Callable[[int], None] = lambda _: None) -> list[Replayed]:
    """Make the tables of all projections, or of those named, again, and compare; `say` hears how many events were applied.

    Everything is read in one snapshot. Needs the right to make temporary tables, which the owner role has.
    """
    chosen = [one for one in projections() if names is None or one.name in names]
    found: list[Replayed] = []
    with suppress(_Done), transaction.atomic():
        _prepare(chosen)
        for applied, row in enumerate(Event.objects.order_by("position").iterator(chunk_size=CHUNK), start=1):
            recorded = as_recorded(row)
            for one in chosen:
                one.rebuild(recorded)
            if applied % CHUNK == 0:
                say(applied)
        found = [_compared(one.name, table, left_out) for one in chosen for table, left_out in one.tables.items()]
        raise _Done
    return found


def _prepare(chosen: Iterable[Projection]) -> None:
    """Empty tables in front of the live ones, and no right to write elsewhere."""
    with connection.cursor() as cursor:
        if len(connection.savepoint_ids) == 0:  # the first statement of its transaction
            cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        cursor.execute(_SETTINGS)
        for one in chosen:
            for table in one.tables:
                name = connection.ops.quote_name(table)
                cursor.execute(f"CREATE TEMPORARY TABLE {name} (LIKE public.{name} INCLUDING ALL) ON COMMIT DROP")
        cursor.execute("SET LOCAL transaction_read_only = on")


def _compared(name: str, table: str, left_out: frozenset[str]) -> Replayed:
    quoted, columns = connection.ops.quote_name(table), sorted(left_out)
    live, made = _LINES.format(f"public.{quoted}"), _LINES.format(f"pg_temp.{quoted}")
    with connection.cursor() as cursor:
        rows, digest = _row(cursor, _DIGEST.format(lines=live), [columns])
        again_rows, again = _row(cursor, _DIGEST.format(lines=made), [columns])
        missing: list[str] = []
        extra: list[str] = []
        if (rows, digest) != (again_rows, again):
            missing = _lines(cursor, _ONLY.format(first=made, second=live), [columns, columns, EXAMPLES])
            extra = _lines(cursor, _ONLY.format(first=live, second=made), [columns, columns, EXAMPLES])
    return Replayed(name, table, rows, digest, again_rows, again, tuple(missing), tuple(extra))


def _row(cursor: Any, statement: str, values: list[Any]) -> tuple[int, str]:
    cursor.execute(statement, values)
    found: tuple[int, str] = cursor.fetchone()
    return found


def _lines(cursor: Any, statement: str, values: list[Any]) -> list[str]:
    cursor.execute(statement, values)
    return [line[:LONGEST_EXAMPLE] for (line,) in cursor.fetchall()]
