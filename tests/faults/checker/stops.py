"""Stop: what acted is recorded, is confirmed by the robot alone, and holds until it is released."""

from collections.abc import Iterator, Sequence

from tests.faults.checker.bridges import Record
from tests.faults.checker.findings import Finding
from tests.faults.checker.journal import Export


def stops(export: Export, records: Sequence[Record], *, settled: bool = False) -> list[Finding]:
    """What contradicts it. `settled`: gateways and bridges had time to say all they had to."""
    found = [*_confirmed_by_the_robot(export), *_released_after_cleared(export)]
    for record in records:
        found += [*_held(record), *_not_moving(record)]
        if settled:
            found += _recorded(export, record)
    return [Finding("Stop", what) for what in found]


def _confirmed_by_the_robot(export: Export) -> Iterator[str]:
    """The console says `confirmed` only of what the robot itself said."""
    said = {(event.payload["stop_id"], f"robot:{event.payload['robot_id']}") for event in export.of("fleet.stop_latched")}
    for event in export.of("control.stop_confirmed"):
        if (event.payload["stop_id"], event.payload["subject"]) not in said:
            yield f"{event}: {event.payload['subject']} never said that Stop {event.payload['stop_id']} holds it"


def _released_after_cleared(export: Export) -> Iterator[str]:
    """A robot lets go of a Stop only after people cleared it: by the console's order, not by clocks."""
    cleared: set[str] = set()
    for event in export.of("control.stop_cleared", "fleet.stop_released"):
        if event.type == "control.stop_cleared":
            cleared.add(event.payload["stop_id"])
        elif event.payload["stop_id"] not in cleared:
            yield f"{event}: Stop {event.payload['stop_id']} was let go before anybody cleared it"


def _recorded(export: Export, record: Record) -> Iterator[str]:
    """Every Stop that reached a bridge is in the journal, and so is what the robot said of it."""
    pressed = {event.payload["stop_id"] for event in export.of("control.stop_requested")}
    latched = {(event.payload["stop_id"], f"robot:{event.payload['robot_id']}") for event in export.of("fleet.stop_latched")}
    ours = {subject for hello in record.messages("heard", "welcome") for subject in hello["subjects"]}
    for message in record.messages("heard", "stop_now"):
        if message["stop"] not in pressed:
            yield f"Stop {message['stop']} acted at {record.bridge} and is not in the journal"
        for subject in sorted(ours & set(message["subjects"])):
            if (message["stop"], subject) not in latched:
                yield f"Stop {message['stop']} reached {record.bridge}, and {subject} never said that it holds"


def _held(record: Record) -> Iterator[str]:
    """The bridge lets go only of what it was told to clear."""
    told: set[tuple[str, str]] = set()
    for line in record.lines:
        message = line.get("message", {})
        if line["what"] == "heard" and message["op"] == "clear_stop":
            told |= {(message["stop"], subject) for subject in message["subjects"]}
        elif line["what"] == "kept" and line["body"]["fact"] == "stop_released":
            stop, subject = line["body"]["stop"], line["subject"]
            if (stop, subject) not in told:
                yield f"{record.bridge} let go of Stop {stop} for {subject}, and nobody had told it to"


def _not_moving(record: Record) -> Iterator[str]:
    """Between the word that a Stop holds and the word that it is released, no report says that the robot moves."""
    held: dict[str, set[str]] = {}
    subjects: list[str] = []
    for line in record.lines:
        message = line.get("message", {})
        if line["what"] == "kept" and line["body"]["fact"] == "stop_latched":
            held.setdefault(line["subject"], set()).add(line["body"]["stop"])
        elif line["what"] == "kept" and line["body"]["fact"] == "stop_released":
            held.get(line["subject"], set()).discard(line["body"]["stop"])
        elif message.get("op") == "hello":
            subjects = message["subjects"]
        elif message.get("op") == "report" and held.get(subjects[message["subject"]]):
            yield from _moves(record, subjects[message["subject"]], held, message)


def _moves(record: Record, subject: str, held: dict[str, set[str]], report: dict) -> Iterator[str]:
    ended = {
        fact["body"]["stop"]: fact["body"]["ended_at_ms"]
        for boot in record.boots.values()
        for fact in boot.kept.values()
        if fact["body"]["fact"] == "stop_latched" and fact["subject"] == subject
    }
    # A report made just before may have been written after: its own time counts, by the same clock.
    if report["is_moving"] and all(report["at_ms"] > ended[stop] for stop in held[subject]):
        yield f"{record.bridge} says that {subject} moves at {report['at_ms']}, while Stop {sorted(held[subject])[0]} holds it"
