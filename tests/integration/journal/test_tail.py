"""The tail: every committed event gets one number, in an order that respects commits, and none is skipped."""

import threading
import time
from contextlib import contextmanager

import psycopg
import pytest
from django.db import connection, transaction

from apps.journal import selectors
from apps.journal.models import Event, Stream, TailEntry, TailState
from apps.journal.services import catch_up, operation
from apps.journal.services.sequencing import Sequencer
from apps.kernel.types import system_actor

ACTOR = system_actor("test")


def write(counted, stream, *numbers):
    with operation(ACTOR, "test.count") as unit:
        unit.append(stream, [counted(number=number) for number in numbers])


def order():
    """(number, stream, sequence) of everything numbered."""
    events = {event.position: event for event in Event.objects.all()}
    entries = TailEntry.objects.order_by("number")
    return [(entry.number, events[entry.position].stream, events[entry.position].sequence) for entry in entries]


@contextmanager
def raw():
    given = connection.get_connection_params()
    given = {name: value for name, value in given.items() if name not in ("cursor_factory", "context", "prepare_threshold")}
    with psycopg.connect(**given, autocommit=True) as opened:
        yield opened


@pytest.fixture
def sequencer(transactional_db):
    with raw() as opened:
        found = Sequencer(opened)
        found.load()
        yield found


@contextmanager
def open_writer(counted, stream):
    """A transaction of its own that has written an event and stands still until the test goes on."""
    written, go_on, ended = threading.Event(), threading.Event(), threading.Event()
    failed = []

    def run():
        try:
            with operation(ACTOR, "test.count") as unit:
                unit.append(stream, [counted(number=1)])
                written.set()
                assert go_on.wait(20)
                if failed:
                    transaction.set_rollback(True)
        finally:
            connection.close()
            ended.set()

    thread = threading.Thread(target=run)
    thread.start()
    assert written.wait(20)

    def end(rolled_back=False):
        if rolled_back:
            failed.append(True)
        go_on.set()
        assert ended.wait(20)

    try:
        yield end
    finally:
        go_on.set()
        thread.join(20)


def test_numbers_from_one_without_gaps(sequencer, counted):
    write(counted, "test.stream:a", 1, 2)
    write(counted, "test.stream:b", 1)
    assert [one.number for one in sequencer.step()] == [1, 2, 3]
    assert sequencer.step() == []
    write(counted, "test.stream:a", 3)
    assert [(one.number, one.stream, one.sequence, one.type) for one in sequencer.step()] == [
        (4, "test.stream:a", 3, "test.counted")
    ]
    assert order() == [(1, "test.stream:a", 1), (2, "test.stream:a", 2), (3, "test.stream:b", 1), (4, "test.stream:a", 3)]
    assert selectors.tail_lag_s() < 5


def test_few_at_a_time_is_the_same_order(sequencer, counted):
    for number in range(7):
        write(counted, f"test.stream:{'abc'[number % 3]}", number)
    while sequencer.step(most=2):
        pass
    assert [number for number, _, _ in order()] == list(range(1, 8))
    assert [entry.position for entry in TailEntry.objects.order_by("number")] == list(
        Event.objects.order_by("position").values_list("position", flat=True)
    )


def test_who_stands_still_is_waited_for_by_nobody_and_not_skipped(sequencer, counted):
    with open_writer(counted, "test.stream:late") as end:
        write(counted, "test.stream:a", 1)
        assert [one.stream for one in sequencer.step()] == ["test.stream:a"]
        write(counted, "test.stream:a", 2)
        assert [one.stream for one in sequencer.step()] == ["test.stream:a"]
        for _ in range(3):
            assert sequencer.step() == []
        assert TailState.objects.get().horizon < Event.objects.earliest("position").position
        end()
        assert [one.stream for one in sequencer.step()] == ["test.stream:late"]
    assert [stream for _, stream, _ in order()] == ["test.stream:a", "test.stream:a", "test.stream:late"]


def test_what_was_rolled_back_is_forgotten(sequencer, counted):
    with open_writer(counted, "test.stream:late") as end:
        write(counted, "test.stream:a", 1)
        sequencer.step()
        sequencer.step()
        assert len(sequencer.holes) == 1
        end(rolled_back=True)
        sequencer.step()
    assert sequencer.holes == []
    assert TailState.objects.get().horizon == Event.objects.latest("position").position


def test_an_open_transaction_that_writes_no_event_holds_up_nothing(sequencer, counted):
    with raw() as other, other.transaction():
        other.execute("SELECT pg_current_xact_id()")
        write(counted, "test.stream:a", 1)
        with pytest.raises(ZeroDivisionError), operation(ACTOR, "test.count") as unit:
            unit.append("test.stream:a", [counted(number=2)])
            raise ZeroDivisionError
        write(counted, "test.stream:a", 3)
        sequencer.step()
        sequencer.step()
        assert sequencer.holes == []


def test_another_sequencer_goes_on_where_the_first_was_lost(sequencer, counted):
    with open_writer(counted, "test.stream:late") as end:
        write(counted, "test.stream:a", 1)
        sequencer.step()
        with raw() as opened:
            second = Sequencer(opened)
            second.load()
            assert [(hole.low, hole.high) for hole in second.holes] == [(hole.low, hole.high) for hole in sequencer.holes]
            assert second.step() == []
            write(counted, "test.stream:a", 2)
            assert [one.number for one in second.step()] == [2]
            end()
            assert [one.stream for one in second.step()] == ["test.stream:late"]
            with pytest.raises((RuntimeError, psycopg.errors.UniqueViolation)):
                sequencer.step()
    assert [number for number, _, _ in order()] == [1, 2, 3]


def _write_and_roll_back(counted, writer):
    """Forty events over five streams, some of them late, and some that are rolled back."""
    for number in range(40):
        with operation(ACTOR, "test.count") as unit:
            unit.append(f"test.stream:{(writer + number) % 5}", [counted(number=number)])
            time.sleep(0.002 * (number % 3))
        if number % 7 == 0:
            with pytest.raises(ZeroDivisionError), operation(ACTOR, "test.count") as unit:
                unit.append(f"test.stream:{writer % 5}", [counted(number=number)])
                raise ZeroDivisionError


def test_racing_writers_lose_nothing_and_keep_the_order_of_streams(counted, at_once):
    writing = threading.Semaphore(0)

    def write_all(writer):
        try:
            _write_and_roll_back(counted, writer)
        finally:
            writing.release()

    def number():
        with raw() as opened:
            sequencer, ended = Sequencer(opened), 0
            sequencer.load()
            while ended < 8:
                sequencer.step(most=17)
                ended += writing.acquire(blocking=False)
            while sequencer.step(most=17) or sequencer.holes:
                pass

    assert at_once(number, *(lambda writer=writer: write_all(writer) for writer in range(8))) == [None] * 9
    found = order()
    assert [number for number, _, _ in found] == list(range(1, 321))
    assert len({(stream, sequence) for _, stream, sequence in found}) == 320
    for stream in Stream.objects.values_list("name", flat=True):
        assert [sequence for _, name, sequence in found if name == stream] == list(range(1, 65))


@pytest.mark.django_db
def test_lag_of_a_journal_that_nobody_numbers(counted):
    assert selectors.tail_lag_s() == 0
    write(counted, "test.stream:a", 1)
    assert 0 <= selectors.tail_lag_s() < 5
    assert catch_up() == 1
    TailState.objects.update(caught_up_at="2026-01-01T00:00:00Z")
    assert selectors.tail_lag_s() > 60
    catch_up()
    assert selectors.tail_lag_s() < 5
