"""What a list may be narrowed and ordered by: each parameter declared, everything else refused.

A name that came from outside never reaches the ORM: it is only looked up in a declaration, which holds the field path
we wrote. So `?owner__password=` and `?sort=id);--` are refused by name before any query is built.
"""

import base64
import binascii
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import Enum
from typing import Any, Protocol, TypeVar

import msgspec
from django.db.models import Q, QuerySet

from apps.kernel.errors import Invalid
from apps.kernel.ids import parse_id
from apps.kernel.pagination import Page, page_size

Row = TypeVar("Row")
Parser = Callable[[str], Any]
TEXT_LENGTH = 100
CURSOR_LENGTH = 2000
SORT, CURSOR, LIMIT = "sort", "cursor", "limit"


class Parameters(Protocol):
    """Query parameters as Django holds them."""

    def keys(self) -> Iterable[str]:
        """Names given."""
        ...

    def getlist(self, key: str) -> list[str]:
        """Every value given for one name."""
        ...


class Unreadable(ValueError):
    """A value of the wrong kind; the message tells what to give instead."""


def text(value: str) -> str:
    """Words to look for: printable, short. PostgreSQL cannot store NUL, and nothing we store holds control characters."""
    if not value.isprintable() or len(value) > TEXT_LENGTH:
        raise Unreadable(f"Give at most {TEXT_LENGTH} printable characters.")
    return value


def stored_text(value: str) -> str:
    """Text that a cursor brings back: whatever PostgreSQL can hold."""
    if "\x00" in value:
        raise Unreadable("NUL cannot be stored.")
    return value


def identifier(value: str) -> Any:
    """A UUID in its canonical spelling."""
    found = parse_id(value)
    if found is None:
        raise Unreadable("Give an identifier.")
    return found


def boolean(value: str) -> bool:
    """`true` or `false`."""
    if value not in {"true", "false"}:
        raise Unreadable("Give true or false.")
    return value == "true"


def whole(value: str) -> int:
    """A whole number of 0 or more that PostgreSQL can hold."""
    if not (value.isascii() and value.isdigit() and len(value) <= 18):
        raise Unreadable("Give a whole number.")
    return int(value)


def moment(value: str) -> datetime:
    """A time with its offset, as in ISO 8601."""
    try:
        found = datetime.fromisoformat(value)
        if found.tzinfo is None:
            raise ValueError
        return found.astimezone(UTC)
    except (ValueError, OverflowError):
        raise Unreadable("Give a time with its offset, such as 2026-01-31T09:30:00Z.") from None


def choice(kinds: type[Enum] | Iterable[str]) -> Parser:
    """One of a fixed set of words."""
    words = {str(kind.value) if isinstance(kind, Enum) else kind: kind for kind in kinds}

    def parse(value: str) -> Any:
        try:
            return words[value]
        except KeyError:
            raise Unreadable(f"Give one of {', '.join(sorted(words))}.") from None

    return parse


@dataclass(frozen=True)
class Filter:
    """One parameter that narrows a list. `lookup` is the ORM path it stands for, which the caller never sees."""

    name: str
    lookup: str
    parse: Parser = text
    meaning: str = ""


@dataclass(frozen=True)
class Sort:
    """One order. `field` must be without nulls; `parse` reads its value back from a cursor."""

    field: str
    parse: Parser = stored_text


BY_AGE = Sort("id", identifier)


@dataclass(frozen=True)
class Asked:
    """What the parameters ask for, checked."""

    filters: Mapping[str, Any]
    sort: Sort
    descending: bool
    cursor: tuple[Any, Any] | None
    limit: str | None
    sort_name: str


@dataclass(frozen=True)
class Listing:
    """Everything one list accepts. `extra` names further parameters that the view reads and checks itself.

    Sort names are given as `sort=name` or `sort=-name`; rows of equal value are ordered by id in the same direction.
    """

    filters: tuple[Filter, ...] = ()
    sorts: Mapping[str, Sort] = field(default_factory=lambda: {"age": BY_AGE})
    default_sort: str = "-age"
    extra: frozenset[str] = frozenset()

    def read(self, parameters: Parameters) -> Asked:
        """Check every parameter. Raises Invalid naming each wrong one."""
        wrong: dict[str, list[str]] = {}
        given = self._given(parameters, wrong)
        values: dict[str, Any] = {}
        for one in self.filters:
            if given.get(one.name):
                try:
                    values[one.lookup] = one.parse(given[one.name])
                except Unreadable as error:
                    wrong[one.name] = [str(error)]
        sort_name = given.get(SORT) or self.default_sort
        sort = self.sorts.get(sort_name.removeprefix("-"))
        if sort is None:
            wrong[SORT] = [f"Give one of {', '.join(sorted(self.sorts))}, with - in front for the other way round."]
            sort, sort_name = BY_AGE, "-age"
        cursor = self._cursor(given.get(CURSOR, ""), sort, sort_name, wrong)
        try:
            page_size(given.get(LIMIT))
        except Invalid as error:
            wrong |= error.fields
        if wrong:
            raise Invalid("This list cannot be shown that way.", fields=wrong)
        return Asked(values, sort, sort_name.startswith("-"), cursor, given.get(LIMIT), sort_name)

    def _given(self, parameters: Parameters, wrong: dict[str, list[str]]) -> dict[str, str]:
        """One value for each known name."""
        known = {one.name for one in self.filters} | self.extra | {SORT, CURSOR, LIMIT}
        given = {}
        for name in parameters.keys():  # noqa: SIM118 - a QueryDict is asked for names only
            values = parameters.getlist(name)
            if name not in known:
                wrong[_shown(name)] = ["There is no such parameter."]
            elif len(values) != 1:
                wrong[name] = ["Give it once."]
            else:
                given[name] = values[0]
        return given

    def _cursor(self, word: str, sort: Sort, sort_name: str, wrong: dict[str, list[str]]) -> tuple[Any, Any] | None:
        if not word:
            return None
        try:
            if len(word) > CURSOR_LENGTH:
                raise ValueError
            order, value, key = msgspec.json.decode(base64.urlsafe_b64decode(word), type=tuple[str, str, str])
            if order != sort_name:
                raise ValueError
            return sort.parse(value), identifier(key)
        except (ValueError, binascii.Error, msgspec.MsgspecError):
            wrong[CURSOR] = ["Use the cursor of the page before, with the same order."]
            return None

    def page(self, queryset: "QuerySet[Any, Row]", parameters: Parameters) -> Page[Row]:
        """The page of `queryset` that the parameters ask for: one query, whatever the depth. Raises Invalid."""
        asked = self.read(parameters)
        queryset = queryset.filter(**asked.filters)
        ahead = "lt" if asked.descending else "gt"
        name = asked.sort.field
        if asked.cursor is not None:
            value, key = asked.cursor
            after = Q(**{f"{name}__{ahead}": value})
            queryset = queryset.filter(after if name == "id" else after | Q(**{name: value, f"id__{ahead}": key}))
        size = page_size(asked.limit)
        sign = "-" if asked.descending else ""
        order = [f"{sign}id"] if name == "id" else [f"{sign}{name}", f"{sign}id"]
        rows = list(queryset.order_by(*order)[: size + 1])
        more, rows = len(rows) > size, rows[:size]
        return Page(rows, _cursor_after(rows[-1], asked) if more else None)

    def described(self) -> list[Any]:
        """The parameters, for the API's schema."""
        from drf_spectacular.utils import OpenApiParameter

        orders = sorted(sign + name for name in self.sorts for sign in ("", "-"))
        return [
            *(OpenApiParameter(one.name, str, description=one.meaning) for one in self.filters),
            OpenApiParameter(SORT, str, enum=orders, description="Order; - in front turns it round."),
            OpenApiParameter(CURSOR, str, description="`next_cursor` of the page before."),
            OpenApiParameter(LIMIT, int, description="Rows on a page, 1 to 200."),
        ]


def _cursor_after(row: Any, asked: Asked) -> str:
    value = row
    for part in asked.sort.field.split("__"):
        value = getattr(value, part)
    written = value.isoformat() if isinstance(value, datetime) else str(value)
    return base64.urlsafe_b64encode(msgspec.json.encode((asked.sort_name, written, str(row.id)))).decode()


def _shown(name: str) -> str:
    """A parameter's name as it may be shown: plain ASCII, short."""
    return ascii(name)[1:-1][:60]
