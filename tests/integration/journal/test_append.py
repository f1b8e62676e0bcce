"""Appending: order, concurrency, few round trips, refusals that leave nothing."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest
from django.db import transaction

from apps.journal import selectors
from apps.journal.models import Event, Stream
from apps.journal.services import operation
from apps.kernel import clock
from apps.kernel.errors import Invalid, Stale
from apps.kernel.types import system_actor

ACTOR = system_actor("test")


def numbers(stream):
    return [recorded.payload["number"] for recorded in selectors.events_after(stream, 0)]


@pytest.mark.django_db
def test_returns_what_the_database_holds(counted):
    site = uuid4()
    with operation(ACTOR, "test.count") as unit:
        recorded = unit.append("test.stream:a", [counted(number=1), counted(number=2, note="é")], site_id=site)
    assert recorded == selectors.events_after("test.stream:a", 0) == unit.events
    assert [one.sequence for one in recorded] == [1, 2]
    assert selectors.heads(["test.stream:a", "test.stream:b"]) == {"test.stream:a": 2, "test.stream:b": 0}
    assert list(selectors.chain_faults()) == []


@pytest.mark.django_db
def test_takes_two_statements_once_the_stream_exists(counted, django_assert_num_queries):
    with transaction.atomic(), operation(ACTOR, "test.count") as unit:
        unit.append("test.stream:a", [counted(number=1)])
    with operation(ACTOR, "test.count") as unit, django_assert_num_queries(2):
        unit.append("test.stream:a", [counted(number=number) for number in range(50)])


@pytest.mark.django_db
def test_a_stale_caller_changes_nothing(counted):
    with operation(ACTOR, "test.count") as unit:
        unit.append("test.stream:a", [counted(number=1)], expected=0)
    with pytest.raises(Stale), operation(ACTOR, "test.count") as unit:
        unit.append("test.stream:a", [counted(number=2)], expected=0)
    assert numbers("test.stream:a") == [1]


@pytest.mark.django_db
def test_a_payload_that_cannot_be_stored_names_its_field_and_changes_nothing(counted):
    with pytest.raises(Invalid) as refused, operation(ACTOR, "test.count") as unit:
        unit.append("test.stream:a", [counted(number=1), counted(number=2, note="a\x00b")])
    assert list(refused.value.fields) == ["note"]
    assert not Event.objects.exists() and not Stream.objects.exists()


@pytest.mark.django_db
def test_a_name_that_cannot_be_stored_is_refused(counted):
    with pytest.raises(Invalid) as refused, operation(replace(ACTOR, name="a\x00"), "test.count") as unit:
        unit.append("test.stream:a", [counted(number=1)])
    assert list(refused.value.fields) == ["actor_name"]


@pytest.mark.django_db
@pytest.mark.parametrize("name", ["", "stream", "test.stream:a b", "test.stream:\n", "Test.Stream", "test.stream:" + "a" * 200])
def test_a_stream_needs_a_name_of_the_one_form(counted, name):
    with pytest.raises(ValueError, match="no name of a stream"), operation(ACTOR, "test.count") as unit:
        unit.append(name, [counted(number=1)])


@pytest.mark.django_db
def test_a_stream_keeps_its_site(counted):
    with operation(ACTOR, "test.count") as unit:
        unit.append("test.stream:a", [counted(number=1)], site_id=uuid4())
    with pytest.raises(ValueError, match="belongs to site"), operation(ACTOR, "test.count") as unit:
        unit.append("test.stream:a", [counted(number=2)], site_id=uuid4())


@pytest.mark.django_db(transaction=True)
def test_needs_a_transaction(counted):
    from apps.journal.services import appending

    with pytest.raises(RuntimeError):
        appending.append("test.stream:a", [counted(number=1)], actor=ACTOR)


@pytest.mark.django_db
def test_a_clock_that_goes_back_keeps_the_order(counted, monkeypatch):
    start = datetime(2026, 1, 31, 9, tzinfo=UTC)
    for number in range(4):
        monkeypatch.setattr(clock, "now", lambda hours=number: start - timedelta(hours=hours))
        with operation(ACTOR, "test.count") as unit:
            unit.append("test.stream:a", [counted(number=number)], site_id=(site := uuid4()) if not number else site)
    recorded = selectors.events_after("test.stream:a", 0)
    assert [one.payload["number"] for one in recorded] == [0, 1, 2, 3]
    assert [one.recorded_at for one in recorded] == [start - timedelta(hours=hours) for hours in range(4)]
    assert [one.payload["number"] for one in selectors.events_of_site(site)] == [3, 2, 1, 0]
    assert list(selectors.chain_faults()) == []


def test_eight_writers_on_one_stream_leave_no_gap(counted, at_once):
    def write(writer):
        for number in range(25):
            with operation(ACTOR, "test.count") as unit:
                unit.append("test.stream:shared", [counted(number=writer * 100 + number)])

    assert at_once(*(lambda writer=writer: write(writer) for writer in range(8))) == [None] * 8
    recorded = selectors.events_after("test.stream:shared", 0, most=1000)
    assert [one.sequence for one in recorded] == list(range(1, 201))
    for writer in range(8):
        own = [one.payload["number"] for one in recorded if one.payload["number"] // 100 == writer]
        assert own == [writer * 100 + number for number in range(25)]
    assert list(selectors.chain_faults()) == []
    assert len({one.position for one in recorded}) == 200


def test_writers_on_many_new_streams_do_not_disturb_each_other(counted, at_once):
    streams = [f"test.stream:{number}" for number in range(40)]

    def write():
        for stream in streams:
            with operation(ACTOR, "test.count") as unit:
                unit.append(stream, [counted(number=1)])

    assert at_once(*[write] * 8) == [None] * 8
    assert selectors.heads(streams) == dict.fromkeys(streams, 8)
    assert list(selectors.chain_faults()) == []


def test_two_streams_in_opposite_order_never_wait_in_a_ring(counted, at_once):
    def write(names):
        for _ in range(30):
            with operation(ACTOR, "test.count") as unit:
                unit.lock(*names)
                for name in names:
                    unit.append(name, [counted(number=1)])

    first, second, third = "test.stream:1", "test.stream:2", "test.stream:3"
    orders = [(first, second), (second, first), (third, first), (first, third), (second, third), (third, second)]
    assert at_once(*(lambda names=names: write(names) for names in orders)) == [None] * 6
    assert selectors.heads([first, second, third]) == {first: 120, second: 120, third: 120}
    assert list(selectors.chain_faults()) == []


@pytest.mark.django_db
def test_a_second_stream_must_be_locked_beforehand(counted):
    with pytest.raises(RuntimeError, match="lock"), operation(ACTOR, "test.count") as unit:
        unit.append("test.stream:a", [counted(number=1)])
        unit.append("test.stream:b", [counted(number=1)])
    with pytest.raises(RuntimeError, match="lock"), operation(ACTOR, "test.count") as outer:
        outer.append("test.stream:a", [counted(number=1)])
        with operation(ACTOR, "test.count") as inner:
            inner.append("test.stream:b", [counted(number=1)])
    assert not Event.objects.exists()


@pytest.mark.django_db
def test_an_inner_operation_that_is_refused_leaves_the_chain_whole(counted):
    with operation(ACTOR, "test.count") as outer:
        outer.append("test.stream:a", [counted(number=1)])
        with pytest.raises(Stale), operation(ACTOR, "test.count") as inner:
            inner.append("test.stream:a", [counted(number=2)])
            raise Stale("no")
        outer.append("test.stream:a", [counted(number=3)])
    assert numbers("test.stream:a") == [1, 3]
    assert list(selectors.chain_faults()) == []


@pytest.mark.django_db(transaction=True)
def test_wakes_listeners_after_commit_only(counted):
    from apps.journal.services import appending, on_appended

    heard = []

    def listener(stream, sequence):
        heard.append((stream, sequence))

    on_appended(listener)
    try:
        with pytest.raises(Stale), operation(ACTOR, "test.count") as unit:
            unit.append("test.stream:a", [counted(number=1)])
            raise Stale("no")
        with operation(ACTOR, "test.count") as unit:
            unit.append("test.stream:a", [counted(number=1), counted(number=2)])
            assert heard == []
        assert heard == [("test.stream:a", 2)]
    finally:
        appending._LISTENERS.remove(listener)
