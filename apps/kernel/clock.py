"""The only source of time. Rules take `now` as an argument; edges and services ask here, and tests replace it."""

import time
from datetime import UTC, datetime

from django.db import connection


def now() -> datetime:
    """Wall time in UTC, for records and display."""
    return datetime.now(UTC)


def shared() -> datetime:
    """What the database's clock says: for what one process gives a time to live and another one counts it."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT clock_timestamp()")
        found: datetime = cursor.fetchone()[0]
        return found


def monotonic() -> float:
    """Seconds that only grow, for limits and ages; unrelated to wall time."""
    return time.monotonic()
