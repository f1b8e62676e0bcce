"""Reads of ingest."""

from django.db import connection


def ask_database() -> None:
    """Return when the database answers; raises its error otherwise."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")
