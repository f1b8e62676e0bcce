"""Durable writes while something is done to the console: a bridge's facts, and people's acts by the API.

Both keep what they were told was done, so that it can be looked for in the journal afterwards.
"""

import http.client
import json
import os
import subprocess
import sys
import threading
import time
from collections import Counter
from pathlib import Path
from uuid import uuid4

from tests.faults.floor import Floor
from tests.integration.console.deployment import ROOT, wait_for

FACTS_PER_SECOND = 200  # two discs, each of which ends an episode and begins another fifty times a second


class Discs:
    """The bridge of `tests.integration.edge.spinner`, which keeps two hundred facts a second."""

    def __init__(self, floor: Floor) -> None:
        told = json.loads(floor.act("discs", floor.people["site"], "2"))
        self._folder = floor.folder / told["bridge"]
        self._folder.mkdir()
        self._record, self._config = self._folder / f"{told['bridge']}.jsonl", self._folder / "config.json"
        self._config.write_text(json.dumps(told | {"url": f"ws://localhost:{floor.console.port + 1}/machine"}))
        self._config.chmod(0o600)
        self._read_to, self._kept, self._taken = 0, 0, dict[str, int]()
        self._running = self._start(1)
        floor.others.append(self._record)

    def _start(self, facts_each: int) -> "subprocess.Popen[bytes]":
        given = ["--config", self._config, "--log", self._record, "--facts-each", facts_each]
        command = [sys.executable, "-m", "tests.integration.edge.spinner", *map(str, given)]
        environment = {**os.environ, "PILOTHOUSE_TEST_GUARD_OFF": ""}
        with (self._folder / "log").open("ab") as log:
            return subprocess.Popen(command, cwd=ROOT, env=environment, stdout=log, stderr=log)

    def kept(self) -> int:
        """Facts so far."""
        self._read()
        return self._kept

    def taken(self) -> int:
        """Facts of which the console said that it has them."""
        self._read()
        return sum(self._taken.values())

    def _read(self) -> None:
        """What was written since the last time: the record is long, and asked often."""
        if not self._record.exists():
            return
        with self._record.open("rb") as file:
            file.seek(self._read_to)
            whole = file.read().rpartition(b"\n")[0]
        self._read_to += len(whole) + 1 if whole else 0
        for text in whole.split(b"\n"):
            self._kept += b'"kept"' in text
            if b'"facts_taken"' in text or b'"welcome"' in text:
                message = json.loads(text)["message"]
                for told in [message] if message["op"] == "facts_taken" else message.get("resume", ()):
                    self._taken[told["boot"]] = max(told["sequence"], self._taken.get(told["boot"], 0))

    def rest(self, within: float = 60) -> None:
        """Make no more facts, and wait until those that were made are told."""
        self.end()
        self._running = self._start(10**6)
        wait_for(lambda: self.taken() >= self.kept(), within, "every fact of the discs taken")
        self.end()

    def end(self) -> None:
        """End it."""
        if self._running.poll() is None:
            self._running.terminate()
            self._running.wait(20)


class Writers:
    """People's programs that register robots by the API as fast as they are let, each again until it is told an end."""

    def __init__(self, floor: Floor, count: int = 3) -> None:
        self._port, self._path = floor.console.port, f"/api/v1/sites/{floor.people['slug']}/robots/"
        self._token, self._ends = floor.people["token"], threading.Event()
        self.done: list[tuple[float, str]] = []  # when, and the name that was answered with 201
        self.answers: Counter[int] = Counter()
        self.wrong: list[str] = []
        self.late_s = 0.0
        self._threads = [threading.Thread(target=self._write, daemon=True) for _ in range(count)]
        for thread in self._threads:
            thread.start()

    def end(self) -> None:
        """Stop; who waits for an answer gets it first."""
        self._ends.set()
        for thread in self._threads:
            thread.join(60)

    def done_since(self, began: float) -> int:
        """How many were done after a moment."""
        return sum(at > began for at, _ in self.done)

    def _write(self) -> None:
        while not self._ends.is_set():
            name, key = f"written-{uuid4().hex[:10]}", str(uuid4())
            while not self._ends.is_set():
                status = self._post(name, key)
                if status == 201:
                    self.done.append((time.monotonic(), name))
                    break
                time.sleep(0.2)

    def _post(self, name: str, key: str) -> int:
        connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=30)
        headers = {
            "Host": f"localhost:{self._port}",
            "Authorization": f"Bearer {self._token}",
            "Content-Type": "application/json",
            "Idempotency-Key": key,
        }
        body = json.dumps({"name": name, "kind": "arm", "is_simulated": True})
        began = time.monotonic()
        try:
            connection.request("POST", self._path, body, headers)
            answer = connection.getresponse()
            said, status = answer.read(), answer.status
            self.late_s = max(self.late_s, time.monotonic() - began)
            self.answers[status] += 1
            if status == 503 and not answer.headers.get("Retry-After", "").isdigit():
                self.wrong.append("503 without Retry-After")
            elif status not in {201, 503}:
                self.wrong.append(f"{status}: {said[:200]!r}")
            return status
        except (OSError, http.client.HTTPException) as error:
            self.wrong.append(repr(error))
            return 0
        finally:
            connection.close()


def lost(writers: Writers, export: Path) -> list[str]:
    """Names that were acknowledged and are not in the journal exactly once."""
    events = (json.loads(line).get("event", {}) for line in export.read_text(encoding="utf-8").split("\n") if line)
    there = Counter(one["payload"]["name"] for one in events if one.get("type") == "fleet.robot_registered")
    return [f"{name} is there {there[name]} times" for _, name in writers.done if there[name] != 1]
