"""Writing blocks, and forgetting them when they are old."""

from collections.abc import Sequence
from datetime import timedelta

import psycopg
from django.conf import settings
from django.db import connection, transaction

from apps.kernel import clock
from apps.telemetry.recording import Block

MOST_AT_ONCE = 200
_COLUMNS = (
    *("id", "layout_id", "boot", "is_late", "count", "first_sequence", "last_sequence", "since_ms", "until_ms"),
    *("lowest", "highest", "total", "known", "data"),
)
_WRITE = f"""
INSERT INTO telemetry_block ({", ".join(_COLUMNS)}) VALUES ({", ".join("%s" for _ in _COLUMNS[:-1])}, %b)
ON CONFLICT (id) DO NOTHING
"""  # noqa: S608 - made of the names above
_FORGET = """
DELETE FROM telemetry_block WHERE id IN (SELECT id FROM telemetry_block WHERE until_ms < %s LIMIT %s)
"""
# One statement a transaction: a block may be stored without its neighbours, and locks stay short.
_LIMITS = "SELECT set_config('statement_timeout', '5000', true), set_config('synchronous_commit', 'off', true)"


def write_blocks(blocks: Sequence[Block]) -> int:
    """Store blocks, each once however often it is given; how many were given. Compresses them in this thread.

    Raises the database's own errors: what was not stored may be given again. A crash of PostgreSQL within half a second of
    it may forget them, as may any crash with what was still open: samples are not facts.
    """
    for start in range(0, len(blocks), MOST_AT_ONCE):
        rows = [_values(block) for block in blocks[start : start + MOST_AT_ONCE]]
        with transaction.atomic(), connection.cursor() as borrowed:
            # The cursor of psycopg itself sends rows in one pipeline and bytes as bytes; Django's would send text.
            cursor = psycopg.Cursor(borrowed.connection)
            cursor.execute(_LIMITS)
            cursor.executemany(_WRITE, rows)
    return len(blocks)


def _values(block: Block) -> tuple[object, ...]:
    summary, data = block.summary, block.data
    return (
        *(block.id, block.layout_id, block.boot, block.is_late, block.count, block.first_sequence, block.last_sequence),
        *(block.since_ms, block.until_ms, summary.lowest, summary.highest, summary.total, summary.known, data),
    )


def forget_old_blocks(*, most: int = 5000) -> int:
    """Delete blocks received longer ago than samples are kept, and say how many; call again while there are some."""
    cutoff = clock.now() - timedelta(days=settings.TELEMETRY_DAYS)
    with connection.cursor() as cursor:
        cursor.execute(_FORGET, [int(cutoff.timestamp() * 1000), most])
        return int(cursor.rowcount)
