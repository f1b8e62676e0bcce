"""The only source of time. Rules take `now` as an argument; edges and services ask here, and tests replace it."""

import time
from datetime import UTC, datetime


def now() -> datetime:
    """Wall time in UTC, for records and display."""
    return datetime.now(UTC)


def monotonic() -> float:
    """Seconds that only grow, for limits and ages; unrelated to wall time."""
    return time.monotonic()
