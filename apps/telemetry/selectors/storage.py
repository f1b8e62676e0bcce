"""What stored samples take."""

from django.db import connection

from apps.telemetry.types import Storage

# The rows by PostgreSQL's own estimate: counting them would read the table. The oldest is found layout by layout, by index.
_STORAGE = """
SELECT greatest(0, (SELECT reltuples FROM pg_class WHERE oid = 'telemetry_block'::regclass))::bigint,
  pg_total_relation_size('telemetry_block'),
  (SELECT min(found.until_ms) FROM telemetry_layout AS layout, LATERAL
    (SELECT until_ms FROM telemetry_block WHERE layout_id = layout.id ORDER BY until_ms LIMIT 1) AS found),
  (SELECT max(found.until_ms) FROM telemetry_layout AS layout, LATERAL
    (SELECT until_ms FROM telemetry_block WHERE layout_id = layout.id ORDER BY until_ms DESC LIMIT 1) AS found)
"""


def storage() -> Storage:
    """Blocks, bytes with indexes, oldest and newest receipt."""
    with connection.cursor() as cursor:
        cursor.execute(_STORAGE)
        blocks, table_bytes, oldest_ms, newest_ms = cursor.fetchone()
    return Storage(int(blocks), int(table_bytes), oldest_ms, newest_ms)
