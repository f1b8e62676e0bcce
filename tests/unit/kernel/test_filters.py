"""The allow-list of list parameters, fed what an attacker feeds it."""

import base64
from datetime import UTC, datetime

import pytest
from django.http import QueryDict

from apps.kernel import filters
from apps.kernel.errors import Invalid
from apps.kernel.filters import Filter, Listing, Sort
from apps.kernel.types import Role

ROLES = Listing(
    filters=(
        Filter("role", "role", filters.choice(Role)),
        Filter("person", "person_id", filters.identifier),
        Filter("name", "person__name__icontains"),
        Filter("since", "granted_at__gte", filters.moment),
        Filter("active", "person__is_active", filters.boolean),
        Filter("rank", "rank", filters.whole),
    ),
    sorts={"age": filters.BY_AGE, "name": Sort("person__name")},
)
HOSTILE = (
    "person__password",
    "person.password",
    "name__startswith",
    'name"',
    "name'",
    "name`",
    "name\x00",
    "name\x1b[31m",
    "name\n",
    "name) UNION SELECT password FROM accounts_person --",
    "id;DROP TABLE accounts_person",
    "1=1",
    "pk",
    "password",
    "role%00",
    "\u0440ole",  # a Cyrillic letter that looks like a Latin one
    "_meta",
    "__class__",
    "x" * 5000,
)


def ask(**parameters: str) -> QueryDict:
    query = QueryDict(mutable=True)
    query.update(parameters)
    return query


@pytest.mark.parametrize("name", HOSTILE)
def test_refuses_a_name_that_is_not_declared(name):
    with pytest.raises(Invalid) as refused:
        ROLES.read(ask(**{name: "1"}))
    [shown] = refused.value.fields
    assert shown.isascii() and shown.isprintable() and len(shown) <= 60
    assert shown == ascii(name)[1:-1][:60]


@pytest.mark.parametrize("value", [*HOSTILE, "--name", "-", "-name,age", "?", "+name"])
def test_refuses_an_order_that_is_not_declared(value):
    with pytest.raises(Invalid) as refused:
        ROLES.read(ask(sort=value))
    assert list(refused.value.fields) == ["sort"]


@pytest.mark.parametrize("name", ["role", "person", "since", "active", "rank"])
@pytest.mark.parametrize("value", HOSTILE)
def test_refuses_a_value_of_the_wrong_kind(name, value):
    with pytest.raises(Invalid) as refused:
        ROLES.read(ask(**{name: value}))
    assert list(refused.value.fields) == [name]


@pytest.mark.parametrize("value", ["a\x00", "a\x1b", "a\nb", "a\u202eb", "x" * 101, "\ud800"])
def test_refuses_words_that_cannot_be_stored_or_shown(value):
    with pytest.raises(Invalid) as refused:
        ROLES.read(ask(name=value))
    assert list(refused.value.fields) == ["name"]


@pytest.mark.parametrize("value", ["O'Brien", "a__b", "100%", "Zoë", "; DROP TABLE x --"])
def test_words_to_look_for_may_be_any_printable_text(value):
    assert ROLES.read(ask(name=value)).filters == {"person__name__icontains": value}


def test_refuses_a_name_given_twice():
    with pytest.raises(Invalid) as refused:
        ROLES.read(QueryDict("role=admin&role=viewer"))
    assert list(refused.value.fields) == ["role"]


def test_names_every_wrong_parameter():
    with pytest.raises(Invalid) as refused:
        ROLES.read(ask(role="king", sort="pk", limit="0", cursor="!", other="1"))
    assert set(refused.value.fields) == {"role", "sort", "limit", "cursor", "other"}


@pytest.mark.parametrize(
    "cursor",
    [
        "!",
        "é",
        "AAAA",
        base64.urlsafe_b64encode(b'["-age","x","y"]').decode(),
        base64.urlsafe_b64encode(b'["name","\\ud800","01890a5d-ac96-774b-bcce-b302099a8057"]').decode(),
        base64.urlsafe_b64encode(b'["-age",1,2]').decode(),
        base64.urlsafe_b64encode(b"[" * 500).decode(),
        "A" * 5000,
    ],
)
def test_refuses_a_cursor_it_did_not_give(cursor):
    with pytest.raises(Invalid) as refused:
        ROLES.read(ask(cursor=cursor))
    assert list(refused.value.fields) == ["cursor"]


def test_refuses_a_cursor_of_another_order():
    word = base64.urlsafe_b64encode(b'["name","a","01890a5d-ac96-774b-bcce-b302099a8057"]').decode()
    assert ROLES.read(ask(cursor=word, sort="name")).cursor is not None
    with pytest.raises(Invalid):
        ROLES.read(ask(cursor=word, sort="-name"))


def test_refuses_nul_in_a_cursor():
    word = base64.urlsafe_b64encode(b'["name","a\\u0000","01890a5d-ac96-774b-bcce-b302099a8057"]').decode()
    with pytest.raises(Invalid):
        ROLES.read(ask(cursor=word, sort="name"))


def test_reads_each_kind():
    asked = ROLES.read(ask(role="admin", since="2026-01-31T10:30:00+01:00", active="true", rank="7", sort="-name", limit="20"))
    assert asked.filters == {
        "role": Role.ADMIN,
        "granted_at__gte": datetime(2026, 1, 31, 9, 30, tzinfo=UTC),
        "person__is_active": True,
        "rank": 7,
    }
    assert (asked.sort.field, asked.descending, asked.limit) == ("person__name", True, "20")


@pytest.mark.parametrize("value", ["2026-01-31", "2026-01-31T10:30:00", "0001-01-01T00:00:00+23:59", "now"])
def test_a_time_needs_its_offset_and_a_year_that_exists(value):
    with pytest.raises(Invalid):
        ROLES.read(ask(since=value))
