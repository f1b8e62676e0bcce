"""An append in one statement is the same append: same events, keys, refusals and rows, and it may be mixed with the other."""

import pytest
from django.db import connection, transaction
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from apps.accounts.events import person_stream
from apps.accounts.models import Preferences
from apps.accounts.services import change_preferences
from apps.journal import selectors
from apps.journal.models import Event, IdempotencyKey
from apps.journal.services import append_fast, operation
from apps.kernel.errors import Conflict, Invalid, NotSignedIn
from apps.kernel.types import ANONYMOUS, system_actor
from tests.factories.accounts import actor_of, make_person

ACTOR = system_actor("test")
STREAM = "test.stream:a"


@pytest.fixture
def begun(transactional_db, counted):
    """A stream that holds one event."""
    with operation(ACTOR, "test.count") as unit:
        unit.append(STREAM, [counted(number=0)])


def fast(*payloads, **given):
    return append_fast(ACTOR, "test.count", stream=STREAM, payloads=payloads, **given)


def holds():
    return list(selectors.chain_faults()) == []


def test_events_are_those_of_the_ordinary_way(begun, counted, django_assert_num_queries):
    first, second = fast(counted(number=1, note='é\u2028\x7f"\\'), counted(number=2))
    assert [first[0], second[0]] == [2, 3]
    assert second[1] > first[1]
    with operation(ACTOR, "test.count") as unit:
        unit.append(STREAM, [counted(number=3)])
    assert [event.payload["number"] for event in selectors.events_after(STREAM, 0)] == [0, 1, 2, 3]
    assert holds()


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.integers(-(2**53) + 1, 2**53 - 1), st.text(st.characters(codec="utf-8", exclude_characters="\x00"), max_size=30))
def test_whatever_a_payload_holds_its_digest_is_right(begun, counted, number, note):
    assert fast(counted(number=number, note=note)) is not None
    assert holds()


def test_a_new_stream_a_used_key_and_an_open_transaction_take_the_ordinary_way(transactional_db, counted):
    assert fast(counted(number=1)) is None
    assert not Event.objects.exists()
    with operation(ACTOR, "test.count") as unit:
        unit.append(STREAM, [counted(number=1)])
    assert fast(counted(number=2), key="k", request={"a": 1}) is not None
    assert fast(counted(number=3), key="k", request={"a": 1}) is None
    assert fast(counted(number=3), expected=1) is None
    assert fast(counted(number=3), expected=2) is not None
    with transaction.atomic():
        assert fast(counted(number=4)) is None
    assert [event.payload["number"] for event in selectors.events_after(STREAM, 0)] == [1, 2, 3]
    assert IdempotencyKey.objects.get().result == {}


def test_what_cannot_be_recorded_and_who_may_have_no_key(begun, counted):
    with pytest.raises(Invalid):
        fast(counted(number=1, note="a\x00"))
    with pytest.raises(Invalid):
        fast(counted(number=1), key="")
    with pytest.raises(NotSignedIn):
        append_fast(ANONYMOUS, "test.count", stream=STREAM, payloads=[counted(number=1)], key="k")
    with pytest.raises(ValueError, match="no name of a stream"):
        append_fast(ACTOR, "test.count", stream="A", payloads=[counted(number=1)])


def test_a_projection_that_fails_leaves_nothing(begun, counted):
    statement = ("UPDATE journal_stream SET name = NULL WHERE name = %s", [STREAM])
    with pytest.raises(Exception, match="null value"):
        fast(counted(number=1), key="k", project=statement)
    assert Event.objects.count() == 1
    assert not IdempotencyKey.objects.exists()


def test_both_ways_at_once_leave_no_gap(begun, counted, at_once):
    def by_statement():
        for number in range(40):
            assert fast(counted(number=number)) is not None

    def by_operation():
        for number in range(40):
            with operation(ACTOR, "test.count") as unit:
                unit.append(STREAM, [counted(number=number)])

    assert at_once(*[by_statement, by_operation] * 3) == [None] * 6
    assert selectors.heads([STREAM]) == {STREAM: 241}
    assert holds()


@pytest.fixture
def person(transactional_db):
    return make_person("Somebody")


def test_a_real_service_takes_one_statement(person, django_assert_num_queries):
    actor = actor_of(person)
    change_preferences(actor=actor, theme="dark", density="compact", single_keys=True, idempotency_key="one")
    before = Event.objects.count()
    heard = []
    with connection.execute_wrapper(lambda execute, sql, *rest: heard.append(sql) or execute(sql, *rest)):
        change_preferences(actor=actor, theme="light", density="compact", single_keys=False, idempotency_key="two")
    assert heard == []  # nothing but the one statement, which goes past the wrapper
    assert Event.objects.count() == before + 1
    row = Preferences.objects.get(person_id=person.id)
    assert (row.theme, row.single_keys) == ("light", False)
    assert holds()


def test_a_real_service_repeats_safely(person):
    actor = actor_of(person)
    for _ in range(2):
        change_preferences(actor=actor, theme="dark", density="compact", single_keys=True, idempotency_key="same")
    with pytest.raises(Conflict):
        change_preferences(actor=actor, theme="light", density="compact", single_keys=True, idempotency_key="same")
    assert Preferences.objects.get(person_id=person.id).theme == "dark"
    assert len([e for e in selectors.events_after(person_stream(person.id), 0) if e.type.endswith("preferences_changed")]) == 1


def test_the_same_request_eight_times_at_once_is_done_once(person, at_once):
    actor = actor_of(person)
    before = Event.objects.count()

    def change():
        return change_preferences(actor=actor, theme="dark", density="compact", single_keys=True, idempotency_key="same")

    answers = at_once(*[change] * 8)
    assert len({str(answer) for answer in answers}) == 1
    assert Event.objects.count() == before + 1
