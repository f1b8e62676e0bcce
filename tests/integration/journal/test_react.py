"""Reactions: each event once in its effect, in order, never skipped, and a bad one holds up only its own reaction."""

import threading
import time

import pytest
from django.db import connection

from apps.journal.models import Cursor, IdempotencyKey
from apps.journal.services import catch_up, operation, react, reacting
from apps.journal.services.reacting import Reactor
from apps.journal.services.sequencing import Sequencer
from apps.kernel import clock
from apps.kernel.ids import new_id
from apps.kernel.types import system_actor

ACTOR = system_actor("test")


def write(counted, *numbers, stream="test.stream:a"):
    with operation(ACTOR, "test.count") as unit:
        unit.append(stream, [counted(number=number) for number in numbers])


@pytest.fixture
def reaction(monkeypatch):
    """Registers reactions that are gone after the test."""
    monkeypatch.setattr(reacting, "_REACTIONS", {})
    return react


@pytest.fixture
def sequenced(transactional_db):
    connection.ensure_connection()
    sequencer = Sequencer(connection.connection)
    sequencer.load()
    return sequencer.step


def keep(event):
    """An effect in the database: one row for each call that was committed."""
    number = f"{event.payload['number']}"
    IdempotencyKey.objects.create(actor=str(new_id()), verb="test", key=number, request=b"", created_at=clock.now())


def kept():
    return list(IdempotencyKey.objects.order_by("created_at", "id").values_list("key", flat=True))


@pytest.mark.django_db
def test_gets_what_it_wants_in_order_and_once(reaction, counted):
    heard = []
    reaction("test.hear", {"test.counted"}, lambda event: heard.append(event.payload["number"]))
    reaction("test.deaf", {"test.other"}, lambda event: heard.append("wrong"))
    write(counted, 1, 2)
    assert catch_up() == 2
    write(counted, 3, stream="test.stream:b")
    catch_up()
    catch_up()
    assert heard == [1, 2, 3]
    assert set(Cursor.objects.values_list("name", "number")) == {("test.hear", 3), ("test.deaf", 3)}


@pytest.mark.django_db
def test_a_new_one_begins_with_the_first_event_or_with_what_comes(reaction, counted):
    old, new = [], []
    write(counted, 1)
    reaction("test.old", {"test.counted"}, lambda event: old.append(event.payload["number"]))
    reaction("test.new", {"test.counted"}, lambda event: new.append(event.payload["number"]), from_start=False)
    catch_up()
    write(counted, 2)
    catch_up()
    assert (old, new) == ([1, 2], [2])


@pytest.mark.django_db(transaction=True)
def test_a_fault_holds_up_its_own_reaction_and_skips_nothing(reaction, counted, sequenced):
    broken = [True]
    heard = []

    def fragile(event):
        keep(event)
        if broken[0] and event.payload["number"] == 2:
            raise ZeroDivisionError("two is too much")

    reaction("test.fragile", {"test.counted"}, fragile)
    reaction("test.sound", {"test.counted"}, lambda event: heard.append(event.payload["number"]))
    write(counted, 1, 2, 3)
    sequenced()
    reactor = Reactor()
    reactor.run()
    assert (kept(), heard) == (["1"], [1, 2, 3])
    held_up = Cursor.objects.get(name="test.fragile")
    assert (held_up.number, held_up.failures, held_up.fault) == (1, 1, "ZeroDivisionError: two is too much")
    reactor.run()
    assert Cursor.objects.get(name="test.fragile").failures == 1  # it rests before it is tried again
    broken[0] = False
    Reactor().run()
    assert kept() == ["1", "2", "3"]
    mended = Cursor.objects.get(name="test.fragile")
    assert (mended.number, mended.failures, mended.fault) == (3, 0, "")


@pytest.mark.django_db(transaction=True)
def test_two_at_once_still_have_each_effect_once(reaction, counted, sequenced, at_once):
    def slowly(event):
        time.sleep(0.005)
        keep(event)

    reaction("test.keep", {"test.counted"}, slowly)
    write(counted, 0)
    sequenced()
    Reactor().run()  # from now on its cursor is there
    for number in range(1, 30):
        write(counted, number)
    sequenced()

    def run():
        reactor = Reactor()
        while reactor.run():
            pass

    at_once(*[run] * 4)
    assert kept() == [str(number) for number in range(30)]


@pytest.mark.django_db(transaction=True)
def test_a_process_that_dies_in_between_leaves_no_half(reaction, counted, sequenced):
    calls = []

    def dies_once(event):
        keep(event)
        calls.append(event.payload["number"])
        if len(calls) == 2:
            connection.connection.close()  # as kill -9 does to the server's side

    reaction("test.dies", {"test.counted"}, dies_once)
    write(counted, 1, 2, 3)
    sequenced()

    def run():
        try:
            Reactor().run()
        except Exception:  # noqa: BLE001 - however it dies
            pass
        finally:
            connection.close()

    for _ in range(2):
        thread = threading.Thread(target=run)
        thread.start()
        thread.join(30)
    assert kept() == ["1", "2", "3"]
    assert len(calls) > 3


def test_a_name_is_taken_once(reaction):
    reaction("test.one", {"test.counted"}, keep)
    with pytest.raises(ValueError, match="twice"):
        reaction("test.one", {"test.other"}, keep)
    with pytest.raises(ValueError, match="no events"):
        reaction("test.none", set(), keep)
