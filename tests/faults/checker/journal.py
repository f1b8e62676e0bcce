"""An export of the journal, read as the lines that it is."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Event:
    """One fact. `position` orders facts that one lock orders; `number` is the order of the tail."""

    number: int
    position: int
    stream: str
    sequence: int
    type: str
    payload: dict[str, Any]
    actor_name: str

    def __str__(self) -> str:
        return f"event {self.number} ({self.type}, {self.stream} {self.sequence})"


class Export:
    """All facts, in the order of the tail. `missing` is the number of one that the export says is gone."""

    def __init__(self, events: list[Event], missing: int | None = None) -> None:
        self.events, self.missing = events, missing

    def of(self, *types: str) -> Iterator[Event]:
        """Facts of some types, in the order in which they were written."""
        yield from sorted((event for event in self.events if event.type in types), key=lambda event: event.position)

    def from_bridges(self) -> Iterator[Event]:
        """Facts that a bridge sent: they say which boot of it, and their place there."""
        wanted = ("boot", "sequence", "epoch", "device_ms", "bridge_id")
        told = (event for event in self.events if all(name in event.payload for name in wanted))
        yield from sorted(told, key=lambda event: event.position)


def read_export(path: Path) -> Export:
    """What `manage.py journal export` wrote. Raises ValueError for what is none."""
    events: list[Event] = []
    missing = None
    for number, text in enumerate(path.read_text(encoding="utf-8").split("\n")):
        if not text:
            continue
        line = json.loads(text)
        if number == 0 and "export" not in line:
            raise ValueError(f"{path} is no export of a journal")
        if "event" in line:
            found = line["event"]
            events.append(Event(**{name: found[name] for name in Event.__dataclass_fields__}))
        missing = line.get("missing", missing)
    return Export(events, missing)
