"""Any number of rows in one statement: each column travels as an array."""

from collections.abc import Sequence
from typing import Any

from django.db import connection


def write_columns(statement: str, rows: Sequence[Sequence[Any]], *before: Any) -> None:
    """Run a statement that takes `before`, then each column of the rows as an array; nothing for no rows."""
    if rows:
        with connection.cursor() as cursor:
            cursor.execute(statement, [*before, *(list(column) for column in zip(*rows, strict=True))])
