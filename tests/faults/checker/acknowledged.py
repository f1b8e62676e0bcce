"""I2: what was acknowledged is in the journal, exactly once, as it was said, and nothing is there that nobody said."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tests.faults.checker.bridges import Boot, Record
from tests.faults.checker.findings import Finding
from tests.faults.checker.journal import Event, Export

REFUSED = "fleet.fact_refused"
# How the fields of a fact's body are called in the journal.
NAMES = {
    "episode": "episode_id",
    "stop": "stop_id",
    "order": "order_id",
    "received_at_ms": "received_ms",
    "ended_at_ms": "ended_ms",
}
_Taken = Mapping[tuple[str, int], Sequence[Event]]


def acknowledged(export: Export, records: Sequence[Record], *, settled: bool = False) -> list[Finding]:
    """What contradicts it. `settled`: every bridge had time to send all it kept, so all of it must be there."""
    taken: dict[tuple[str, int], list[Event]] = defaultdict(list)
    for event in export.from_bridges():
        taken[event.payload["boot"], event.payload["sequence"]].append(event)
    found = [*_counted(taken), *(fault for record in records for fault in record.faults)]
    for record in records:
        for boot in record.boots.values():
            found += _of_boot(record, boot, taken, settled=settled)
    return [Finding("I2", what) for what in found]


def _counted(taken: _Taken) -> Iterator[str]:
    """Each boot counts 1, 2, 3, each number once."""
    boots: dict[str, set[int]] = defaultdict(set)
    for (boot, sequence), events in taken.items():
        boots[boot].add(sequence)
        if len(events) > 1:
            yield f"fact {sequence} of boot {boot} is in the journal {len(events)} times: {', '.join(map(str, events))}"
    for boot, numbers in boots.items():
        gaps = sorted(set(range(1, max(numbers) + 1)) - numbers)
        if gaps:
            yield f"boot {boot} has no fact {', '.join(map(str, gaps[:5]))} in the journal, and has {max(numbers)}"


def _of_boot(record: Record, boot: Boot, taken: _Taken, *, settled: bool) -> Iterator[str]:
    numbers = sorted(boot.kept)
    if numbers != list(range(1, len(numbers) + 1)):
        yield f"{record.bridge} kept facts of boot {boot.boot} with gaps"
    for sequence, fact in sorted(boot.kept.items()):
        events = taken.get((boot.boot, sequence), ())
        if not events and (settled or sequence <= boot.taken):
            how = "acknowledged" if sequence <= boot.taken else "kept, and never taken"
            yield f"fact {sequence} of boot {boot.boot} of {record.bridge} was {how}; it is not in the journal"
        for event in events:
            yield from (f"{event} is not what {record.bridge} said: {what}" for what in _differences(fact, event))
    if boot.kept:  # a boot of before the record began has none
        made_up = sorted(sequence for of, sequence in taken if of == boot.boot and sequence not in boot.kept)
        if made_up:
            yield f"the journal has fact {made_up[0]} of boot {boot.boot}, which {record.bridge} never kept"


def _differences(fact: Mapping[str, Any], event: Event) -> Iterator[str]:
    body, payload = fact["body"], event.payload
    if payload["device_ms"] != fact["at_ms"]:
        yield f"its time is {payload['device_ms']}, not {fact['at_ms']}"
    if event.type == REFUSED:
        if (payload["subject"], payload["fact"]) != (fact["subject"], body["fact"]):
            yield f"it is about {payload['subject']}, {payload['fact']}"
        return
    if event.type != f"fleet.{body['fact']}":
        yield f"it is {event.type}, not {body['fact']}"
    if f"robot:{payload.get('robot_id')}" != fact["subject"]:
        yield f"it is about robot {payload.get('robot_id')}, not {fact['subject']}"
    for name, value in body.items():
        stored = payload.get(NAMES.get(name, name), _ABSENT)
        if name == "fact" or stored is _ABSENT or value == "":  # where nothing was said, the console may say that
            continue
        if _printable(stored) != _printable(value):
            yield f"{name} is {stored!r}, not {value!r}"


def _printable(value: Any) -> Any:
    """Words are kept without characters that nobody can see, and not longer than their field."""
    if not isinstance(value, str):
        return value
    return "".join(character for character in value[:100] if character.isprintable() and character != "\ufffd")


_ABSENT = object()
