"""Lists are paged by key, never by offset: cost stays flat with depth and a new row never shifts a page."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from django.db.models import Model, QuerySet

from apps.kernel.errors import Invalid
from apps.kernel.ids import parse_id

Row = TypeVar("Row")
Table = TypeVar("Table", bound=Model)
PAGE_SIZE = 50
MOST = 200


@dataclass(frozen=True)
class Page(Generic[Row]):
    """Rows of one page and the cursor of the next, None at the end."""

    rows: Sequence[Row]
    next_cursor: str | None


def page_size(text: str | None) -> int:
    """Read a page size from 1 to 200. Raises Invalid."""
    if not text:
        return PAGE_SIZE
    if not (text.isascii() and text.isdigit() and len(text) <= 3 and 1 <= int(text) <= MOST):
        raise Invalid("The page size is wrong.", fields={"limit": [f"Give a whole number from 1 to {MOST}."]})
    return int(text)


def by_id(queryset: "QuerySet[Table]", *, cursor: str | None, limit: str | None = None) -> Page[Table]:
    """One page, newest first, of rows whose `id` is a UUIDv7. Two queries at most, whatever the depth. Raises Invalid."""
    size = page_size(limit)
    if cursor:
        after = parse_id(cursor)
        if after is None:
            raise Invalid("The cursor is wrong.", fields={"cursor": ["Use the cursor of the page before."]})
        queryset = queryset.filter(id__lt=after)
    rows = list(queryset.order_by("-id")[: size + 1])
    more = len(rows) > size
    rows = rows[:size]
    return Page(rows, str(rows[-1].id) if more else None)  # type: ignore[attr-defined]
