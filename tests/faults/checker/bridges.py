"""What a bridge wrote of itself, line by line, as it happened."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


@dataclass
class Boot:
    """The facts of one boot: `kept` on the bridge's disk, by sequence; `taken` up to which the console acknowledged them."""

    boot: str
    kept: dict[int, dict[str, Any]] = field(default_factory=dict)
    taken: int = 0


@dataclass
class Record:
    """One bridge's record, over all its runs. `faults` are contradictions within the record itself."""

    path: Path
    bridge: str = ""
    boots: dict[str, Boot] = field(default_factory=dict)
    lines: list[dict[str, Any]] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)

    def boot(self, name: str) -> Boot:
        """The boot of this name."""
        return self.boots.setdefault(name, Boot(name))

    def messages(self, what: str, *ops: str) -> Iterator[dict[str, Any]]:
        """Messages of these kinds that it `said` or `heard`."""
        for line in self.lines:
            if line["what"] == what and line["message"]["op"] in ops:
                yield line["message"]


def read_record(path: Path) -> Record:
    """Read one record. A last line that a crash cut off counts for nothing; any other damage raises ValueError."""
    record = Record(path)
    texts = path.read_text(encoding="utf-8").split("\n")
    for number, text in enumerate(texts):
        if not text:
            continue
        try:
            line = json.loads(text)
        except ValueError:
            if number == len(texts) - 1:
                continue
            raise ValueError(f"{path}, line {number + 1}, is no JSON") from None
        record.lines.append(line)
        _take(record, line)
    return record


def _take(record: Record, line: dict[str, Any]) -> None:
    if line["what"] == "kept":
        boot, sequence = record.boot(line["boot"]), line["sequence"]
        if sequence in boot.kept:
            record.faults.append(f"{record.path.name} kept fact {sequence} of boot {boot.boot} twice")
        boot.kept[sequence] = {name: line[name] for name in ("subject", "at_ms", "body")}
    elif line["what"] == "said" and line["message"]["op"] == "hello":
        record.bridge = line["message"]["bridge"]
    elif line["what"] == "heard" and line["message"]["op"] == "facts_taken":
        boot = record.boot(line["message"]["boot"])
        boot.taken = max(boot.taken, line["message"]["sequence"])
    elif line["what"] == "heard" and line["message"]["op"] == "welcome":
        for told in line["message"]["resume"]:
            boot = record.boot(told["boot"])
            if told["sequence"] < boot.taken:
                now = f"later only {told['sequence']}"
                record.faults.append(f"the console had fact {boot.taken} of boot {boot.boot} of {record.bridge}, {now}")
            boot.taken = max(boot.taken, told["sequence"])
