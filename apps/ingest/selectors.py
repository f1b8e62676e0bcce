"""Reads of ingest."""

from datetime import datetime

from django.db import connection


def ask_database() -> None:
    """Return when the database answers; raises its error otherwise."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")


def database_time() -> datetime:
    """What the database's clock says: the one clock that all processes share."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT clock_timestamp()")
        found: datetime = cursor.fetchone()[0]
        return found
