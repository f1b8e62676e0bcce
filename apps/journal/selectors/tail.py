"""How far the tail has come."""

from django.db import connection

# What never ran is as late as the first event is old.
_LAG = """
SELECT coalesce(greatest(0, extract(epoch FROM clock_timestamp() - coalesce(
    (SELECT caught_up_at FROM journal_tail_state WHERE id = 1 AND caught_up_at > 'epoch'),
    (SELECT recorded_at FROM journal_event ORDER BY position LIMIT 1)))), 0)
"""


def tail_lag_s() -> float:
    """Seconds since the tail had numbered everything that was committed: under one while it keeps up.

    It grows while events wait and while nobody holds the tail, with or without events; 0 for a journal without any.
    """
    with connection.cursor() as cursor:
        cursor.execute(_LAG)
        return float(cursor.fetchone()[0])
