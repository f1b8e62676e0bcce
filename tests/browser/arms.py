"""The demo's simulated arms at the console of the browser tests, and their bridge's own log of what it said."""

import json
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.browser.server import ROOT, Console, end

READY_S = 60


@dataclass
class Arms:
    """The bridge as a process, and what it wrote that it said."""

    console: Console
    process: "subprocess.Popen[bytes] | None" = None
    subjects: dict[str, str] = field(default_factory=dict)  # names by identifier

    @property
    def log(self) -> Path:
        """One JSON object a line."""
        return self.console.folder / "arms.jsonl"

    def start(self) -> "Arms":
        """Returns once it says states."""
        config = self.console.folder / "arms.json"
        self.subjects = {
            one["subject"].removeprefix("robot:"): one["name"] for one in json.loads(config.read_text())["subjects"]
        }
        self.log.unlink(missing_ok=True)  # another module's arms wrote there
        words = ["--config", str(config), "--weights", str(self.console.folder / "weights"), "--log", str(self.log)]
        with (self.console.folder / "arms.log").open("ab") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "workers.edge.arms", *words, "--expert", "--attendant", "0", "--seed", "7"],
                cwd=ROOT,
                stdout=log,
                stderr=log,
            )
        deadline = time.monotonic() + READY_S
        while not any(line["message"]["op"] == "states" for line in self.said()):
            if self.process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError((self.console.folder / "arms.log").read_text()[-2000:])
            time.sleep(0.3)
        return self

    def stop(self) -> None:
        """End it."""
        if self.process is not None and self.process.poll() is None:
            end(self.process)

    def said(self) -> list[dict[str, Any]]:
        """Every message it sent, in order, with `wall_ms`, the machine's clock as it was sent."""
        if not self.log.exists():
            return []
        lines = [json.loads(line) for line in self.log.read_text().splitlines() if line.endswith("}")]
        return [line for line in lines if line["what"] == "said"]

    def states(self) -> dict[tuple[str, int], tuple[int, list[float | None]]]:
        """By robot and sequence: when it was taken by the bridge's clock, and its values in the order of the channels."""
        places = list(self.subjects)
        return {
            (places[place], sequence): (at_ms, values)
            for line in self.said()
            if line["message"]["op"] == "states"
            for place, sequence, at_ms, values in line["message"]["states"]
        }

    def pictures(self) -> dict[tuple[str, int], str]:
        """SHA-256 by robot and sequence."""
        places = list(self.subjects)
        return {
            (places[line["message"]["subject"]], line["message"]["sequence"]): line["message"]["jpeg"]["sha256"]
            for line in self.said()
            if line["message"]["op"] == "picture"
        }

    def channels(self) -> list[dict[str, Any]]:
        """What the bridge described, the same for every arm."""
        hello = next(line["message"] for line in self.said() if line["message"]["op"] == "hello")
        return list(hello["described"][0]["channels"])
