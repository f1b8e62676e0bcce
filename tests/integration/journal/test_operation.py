"""Idempotency keys: one effect, one answer, whatever is retried."""

import time
from datetime import timedelta
from uuid import uuid4

import pytest

from apps.journal import selectors
from apps.journal.models import Event, IdempotencyKey
from apps.journal.services import forget_old_keys, operation
from apps.kernel import clock
from apps.kernel.errors import Conflict, Invalid, NotSignedIn
from apps.kernel.types import ANONYMOUS, Actor, ActorKind

ACTOR = Actor(ActorKind.PERSON, uuid4(), "Somebody")
OTHER = Actor(ActorKind.PERSON, uuid4(), "Somebody else")
STREAM = "test.stream:a"


def count(payload_class, *, actor=ACTOR, verb="test.count", key="k-1", number=1, pause_s=0.0):
    """A service like any other."""
    with operation(actor, verb, key=key, request={"number": number}) as unit:
        if unit.is_replay:
            return unit.replayed
        time.sleep(pause_s)
        [recorded] = unit.append(STREAM, [payload_class(number=number)])
        return unit.done({"sequence": recorded.sequence, "id": recorded.id, "share": -0.0})


@pytest.mark.django_db
def test_the_same_request_is_done_once_and_answered_twice(counted):
    first = count(counted)
    assert count(counted) == first == {"sequence": 1, "id": first["id"], "share": 0.0}
    assert Event.objects.count() == 1


@pytest.mark.django_db
def test_another_request_under_the_same_key_is_a_conflict(counted):
    count(counted)
    with pytest.raises(Conflict) as refused:
        count(counted, number=2)
    assert refused.value.code == "key_reused"
    assert Event.objects.count() == 1


@pytest.mark.django_db
def test_keys_belong_to_one_actor_and_one_verb(counted):
    answers = [count(counted), count(counted, actor=OTHER), count(counted, verb="test.other"), count(counted, key="k-2")]
    assert [answer["sequence"] for answer in answers] == [1, 2, 3, 4]


@pytest.mark.django_db
def test_without_a_key_everything_is_done_again(counted):
    assert [count(counted, key=None)["sequence"] for _ in range(3)] == [1, 2, 3]
    assert not IdempotencyKey.objects.exists()


@pytest.mark.django_db
def test_a_refusal_leaves_no_key(counted):
    with pytest.raises(Conflict), operation(ACTOR, "test.count", key="k-1", request={"number": 1}) as unit:
        unit.append(STREAM, [counted(number=1)])
        raise Conflict("no")
    assert not IdempotencyKey.objects.exists() and not Event.objects.exists()
    assert count(counted)["sequence"] == 1


@pytest.mark.django_db
@pytest.mark.parametrize("key", ["", "x" * 101, "a\x00", "a\nb", "\ud800"])
def test_refuses_a_key_that_cannot_be_stored(counted, key):
    with pytest.raises(Invalid) as refused:
        count(counted, key=key)
    assert list(refused.value.fields) == ["idempotency_key"]


@pytest.mark.django_db
@pytest.mark.parametrize("number", ["\ud800", 10**40])
def test_refuses_a_request_that_cannot_be_compared(counted, number):
    with pytest.raises(Invalid):
        count(counted, number=number)


@pytest.mark.django_db
def test_strangers_share_no_keys(counted):
    with pytest.raises(NotSignedIn):
        count(counted, actor=ANONYMOUS)


def test_the_same_request_eight_times_at_once_is_done_once(counted, at_once):
    answers = at_once(*[lambda: count(counted, pause_s=0.05)] * 8)
    assert answers == [answers[0]] * 8 and answers[0]["sequence"] == 1
    assert selectors.heads([STREAM]) == {STREAM: 1}


def test_of_different_requests_under_one_key_at_once_one_is_done(counted, at_once):
    answers = at_once(*(lambda number=number: count(counted, number=number, pause_s=0.05) for number in range(6)))
    assert [type(answer) for answer in answers].count(dict) == 1
    assert [type(answer) for answer in answers].count(Conflict) == 5
    assert selectors.heads([STREAM]) == {STREAM: 1}


def test_who_waited_for_a_refusal_does_it_itself(counted, at_once):
    def refuse():
        with operation(ACTOR, "test.count", key="k-1", request={"number": 1}) as unit:
            if unit.is_replay:
                return unit.replayed
            time.sleep(0.2)
            raise Conflict("no")

    def later():
        time.sleep(0.1)
        return count(counted)

    refused, done = at_once(refuse, later)
    assert isinstance(refused, Conflict)
    assert done["sequence"] == 1


@pytest.mark.django_db
def test_old_keys_are_forgotten_and_young_ones_kept(counted):
    count(counted, key="old")
    count(counted, key="young")
    IdempotencyKey.objects.filter(key="old").update(created_at=clock.now() - timedelta(days=30, seconds=1))
    assert forget_old_keys() == 1
    assert list(IdempotencyKey.objects.values_list("key", flat=True)) == ["young"]
    assert Event.objects.count() == 2
