"""The digest chain and what a payload may hold, without a database."""

from dataclasses import replace
from datetime import UTC, datetime
from uuid import UUID

import pytest

from apps.journal.lifecycle import GENESIS, digest_of, faults, plain
from apps.journal.types import ChainFault, Recorded
from apps.kernel.errors import Invalid

AT = datetime(2026, 1, 31, 9, 30, tzinfo=UTC)


def chain(stream: str, length: int) -> list[Recorded]:
    events, previous = [], GENESIS
    for sequence in range(1, length + 1):
        facts = {
            "id": UUID(int=sequence),
            "stream": stream,
            "sequence": sequence,
            "type": "test.counted",
            "version": 1,
            "payload": {"number": sequence},
            "site_id": None,
            "actor_kind": "system",
            "actor_id": None,
            "actor_name": "test",
            "correlation_id": "",
            "recorded_at": AT,
        }
        digest = digest_of(previous=previous, **facts)
        events.append(Recorded(position=sequence, previous=previous, digest=digest, **facts))
        previous = digest
    return events


def found(events: list[Recorded], head: Recorded | None = None) -> list[ChainFault]:
    """Faults of `events` under the head that `head` would have left; by default that of the last event."""
    last = {event.stream: event for event in events}
    if head is not None:
        last[head.stream] = head
    return list(faults((event, (last[event.stream].sequence, last[event.stream].digest)) for event in events))


def test_the_digest_is_fixed_for_good():
    """Change this value and no journal written before can be verified."""
    assert chain("test.stream", 1)[0].digest.hex() == "50fb271225a7c7b8a5dada65c9c3f3c52bf822a054532c93e599da1265c8d68a"


def test_a_whole_chain_has_no_fault():
    first, second = chain("test.first", 5), chain("test.second", 3)
    assert found([*first, *second]) == []


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"payload": {"number": 99}}, "its content does not match its digest"),
        ({"actor_name": "someone else"}, "its content does not match its digest"),
        ({"recorded_at": AT.replace(second=1)}, "its content does not match its digest"),
        ({"digest": b"\x01" * 32}, "its content does not match its digest"),
        ({"previous": b"\x01" * 32}, "does not follow the event before it"),
    ],
)
def test_names_the_event_that_was_edited(change, reason):
    events = chain("test.stream", 5)
    edited = [replace(event, **change) if event.sequence == 3 else event for event in events]
    assert found(edited, events[-1]) == [ChainFault("test.stream", 3, reason)]


def test_names_the_event_that_was_edited_with_its_digest():
    events = chain("test.stream", 5)
    forged = replace(events[2], payload={"number": 99})
    forged = replace(
        forged,
        digest=digest_of(
            **{name: getattr(forged, name) for name in forged.__dataclass_fields__ if name not in {"digest", "position"}}
        ),
    )
    edited = [*events[:2], forged, *events[3:]]
    assert found(edited, events[-1]) == [ChainFault("test.stream", 4, "does not follow the event before it")]


def test_names_a_missing_event_and_a_missing_end():
    events = chain("test.stream", 5)
    assert found([*events[:2], *events[3:]]) == [ChainFault("test.stream", 3, "sequence 3 is missing")]
    assert found(events[:4], events[4]) == [ChainFault("test.stream", 5, "the stream ends before its head")]


def test_names_events_past_the_head():
    events = chain("test.stream", 5)
    assert found(events, events[3]) == [ChainFault("test.stream", 5, "the stream goes on past its head")]


def test_names_events_without_a_head():
    events = chain("test.stream", 2)
    assert list(faults((event, None) for event in events)) == [ChainFault("test.stream", 1, "the stream has no head")]


def test_names_a_head_with_another_digest():
    events = chain("test.stream", 2)
    assert found(events, replace(events[1], digest=b"x" * 32)) == [
        ChainFault("test.stream", 2, "the head does not match its last event")
    ]


@pytest.mark.parametrize(
    ("value", "field"),
    [
        ({"note": "a\x00b"}, "note"),
        ({"note": "\ud800"}, "note"),
        ({"deep": {"list": [1, {"text": "\udfff"}]}}, "deep.list[1].text"),
        ({"deep": {"a\x00": 1}}, "deep"),
        ({"n": float("nan")}, "n"),
        ({"n": float("inf")}, "n"),
        ({"n": [0.5, -1e16]}, "n[1]"),
        ({"n": 2**53}, "n"),
        ({"n": -(2**53)}, "n"),
        ({"n": 10**400}, "n"),
        ({"big": "x" * 70_000}, "payload"),
    ],
)
def test_refuses_what_the_database_would_refuse_or_change(value, field):
    with pytest.raises(Invalid) as refused:
        plain(value)
    assert list(refused.value.fields) == [field]


def test_refuses_what_is_nested_too_deep():
    value: dict = {}
    for _ in range(40):
        value = {"in": value}
    with pytest.raises(Invalid):
        plain(value)


def test_minus_zero_becomes_zero():
    assert str(plain({"n": -0.0})["n"]) == "0.0"


def test_keeps_what_is_plain():
    value = {"a": [1, 2.5, None, True, "\u2028 \x07 é 🤖"], "b": {"c": -1e-300, "d": 9007199254740991, "e": 9.9e15}}
    assert plain(value) == value
