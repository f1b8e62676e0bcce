"""A whole console with real simulated arms, and how it is judged from outside after whatever was done to it."""

import json
import os
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

from websockets.sync.client import ClientConnection, connect

from tests.faults import checker
from tests.integration.console.deployment import REAL, ROOT, Deployment, wait_for
from tests.served import COOKIE

ARMS = 3
GUARDED = ("-m", "tests.faults.guarded")


def _environment() -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PILOTHOUSE_", "DJANGO_"))}
    return kept | {"MUJOCO_GL": "osmesa"}


class Floor:
    """The console, its arms in a process that we kill ourselves, and people."""

    def __init__(self, folder: Path, *, guard_off: str = "", arms: int = ARMS, **variables: str) -> None:
        self.folder, self.arms = folder, arms
        self.console = Deployment(folder / "data", GUARDED if guard_off else REAL)
        self.console.environment = variables | ({"PILOTHOUSE_TEST_GUARD_OFF": guard_off} if guard_off else {})
        self.record = folder / "arms.jsonl"
        self.bridge: subprocess.Popen[bytes] | None = None
        self.people: dict[str, str] = {}
        self.bodies = folder / "bodies"
        self.bodies.mkdir()
        self.exports: list[Path] = []
        self.others: list[Path] = []  # what other bridges than the arms' write of themselves

    def start(self) -> "Floor":
        """Start all of it, and wait until the arms are at their task."""
        self.console.start(within=180)
        done = self.console.run("seed_fleet", "--robots", str(self.arms))
        assert done.returncode == 0, done.stdout + done.stderr
        self.people = json.loads(self.act("people"))
        self.start_bridge()
        self.wait_for_episodes(self.arms)
        return self

    def stop(self) -> None:
        """Leave nothing behind."""
        if self.bridge is not None and self.bridge.poll() is None:
            self.bridge.kill()
            self.bridge.wait()
        self.console.stop()

    def act(self, *words: str) -> str:
        """What people do; see `tests.faults.acting`."""
        command = [sys.executable, "-m", "tests.faults.acting", str(self.console.data), *words]
        done = subprocess.run(command, cwd=ROOT, env=_environment(), capture_output=True, text=True, timeout=120, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip().rpartition("\n")[2]

    def start_bridge(self) -> None:
        """The arms' bridge, with the scripted expert so that nothing has to be trained."""
        given = ["--config", self.console.data / "secrets" / "arms.json", "--state", self.folder / "state"]
        given += ["--weights", self.folder / "weights", "--expert", "--count", self.arms, "--seed", 7, "--attendant", 5]
        given += ["--log", self.record]
        command = [sys.executable, "-m", "workers.edge.arms", *map(str, given)]
        with (self.folder / "bridge.log").open("ab") as log:
            # In a folder of its own: MuJoCo writes its warnings to where it is started.
            environment = _environment() | {"PYTHONPATH": str(ROOT)}
            self.bridge = subprocess.Popen(command, cwd=self.folder, env=environment, stdout=log, stderr=log)

    def kill_bridge(self) -> None:
        """kill -9, and start it again."""
        assert self.bridge is not None
        self.bridge.send_signal(signal.SIGKILL)
        self.bridge.wait()
        self.start_bridge()

    def read(self) -> checker.Record:
        """What the bridge wrote of itself until now."""
        return checker.read_record(self.record)

    def kept(self, fact: str) -> list[dict[str, Any]]:
        """Facts of one kind that the bridge kept."""
        if not self.record.exists():
            return []
        return [one for boot in self.read().boots.values() for one in boot.kept.values() if one["body"]["fact"] == fact]

    def wait_for_episodes(self, more: int = ARMS, within: float = 90) -> None:
        """Until so many more have begun."""
        before = len(self.kept("episode_started"))
        wait_for(lambda: len(self.kept("episode_started")) >= before + more, within, "arms at their task")

    def waiting(self) -> int:
        """Facts that the console has not acknowledged."""
        record = self.read()
        return sum(sequence > boot.taken for boot in record.boots.values() for sequence in boot.kept)

    def page(self) -> ClientConnection:
        """A page's socket to the gateway, open and let in."""
        origin = f"http://localhost:{self.console.port}"
        cookie = {"Cookie": f"{COOKIE}={self.people['session']}"}
        address = f"ws://localhost:{self.console.port + 1}/control"
        page = connect(address, origin=origin, additional_headers=cookie, compression=None, proxy=None)
        page.send(json.dumps({"op": "ping", "t": 1}))
        while json.loads(page.recv(10))["op"] != "pong":
            pass
        return page

    def press_stop(self, page: ClientConnection) -> UUID:
        """Stop the whole site; returns the Stop."""
        stop, now = uuid4(), int(time.time() * 1000)
        pressed = {"op": "stop", "stop": str(stop), "site": self.people["site"], "subjects": None, "pressed_at_ms": now}
        page.send(json.dumps(pressed))
        return stop

    def standing(self, stop: UUID) -> int:
        """How many arms said that they stand under it."""
        return len({one["subject"] for one in self.kept("stop_latched") if one["body"]["stop"] == str(stop)})

    def clear_stop(self, stop: UUID) -> None:
        """Two people clear it."""
        self.act("clear", self.people["site"], str(stop), self.people["floor_operator"], self.people["operator"])

    def look_around(self) -> None:
        """Keep what pages and errors say, for whoever looks for secrets in them."""
        origin, gateway = f"http://localhost:{self.console.port}", f"http://localhost:{self.console.port + 1}"
        site = f"/sites/{self.people['slug']}"
        cookie, wrong = {"Cookie": f"{COOKIE}={self.people['session']}"}, {"Authorization": "Bearer pht_x"}
        asked = [(f"{origin}{path}", cookie) for path in ("/", f"{site}/journal/", f"{site}/robots/", "/none/")]
        asked += [(f"{origin}/api/v1{site}/{path}/", headers) for path in ("robots", "events") for headers in (cookie, wrong)]
        asked += [(f"{gateway}/machine", wrong), (f"{gateway}/readyz", {})]
        for number, (address, headers) in enumerate(asked):
            try:
                with urllib.request.urlopen(urllib.request.Request(address, headers=headers), timeout=20) as answer:
                    body = answer.read()
            except urllib.error.HTTPError as error:
                body = error.read()
            (self.bodies / f"{number}-{time.monotonic_ns()}").write_bytes(body)

    def secrets(self) -> list[str]:
        """Whatever nobody else may see: what lies in the folder of secrets, and the session of a person."""
        found = {self.people["session"]}
        for path in (self.console.data / "secrets").rglob("*"):
            if path.is_file() and path.suffix == ".json":
                found |= {value for value in json.loads(path.read_text()).values() if isinstance(value, str) and _secret(value)}
            elif path.is_file():
                found |= {word for word in path.read_text(errors="replace").split() if _secret(word)}
        return sorted(found)

    def settle(self) -> None:
        """Until the console serves and has all that the bridge kept up to now."""
        wait_for(lambda: self.console.get("/readyz") == 200, 60, "ready")
        wait_for(lambda: self.console.get("/readyz", self.console.port + 1) == 200, 60, "gateway ready")
        wait_for(lambda: self._taken_up_to(dict(_counts(self.read()))), 90, "every fact taken")

    def _taken_up_to(self, counts: dict[str, int]) -> bool:
        taken = {name: boot.taken for name, boot in self.read().boots.items()}
        return all(taken[name] >= count for name, count in counts.items())

    def findings(self) -> list[str]:
        """What the checker finds, once everybody had time to say all they had to. The bridge is away meanwhile."""
        assert self.bridge is not None
        self.settle()
        self.bridge.terminate()
        self.bridge.wait(20)
        self.look_around()
        export = self.folder / f"export-{len(self.exports)}.jsonl"
        for words in (("journal", "seal"), ("journal", "export", str(export))):
            done = self.console.run(*words, within=120)
            assert done.returncode == 0, done.stdout + done.stderr
        journal, records = checker.read_export(export), [self.read(), *map(checker.read_record, self.others)]
        looked = [self.console.data / "log", self.bodies, self.folder / "bridge.log", self.record, *self.others, export]
        found = [
            *checker.claims(journal),
            *checker.acknowledged(journal, records),
            *checker.stops(journal, records),
            *checker.proofs(export, earlier=self.exports[-1:]),
            *checker.replay(_environment(), data=self.console.data),
            *checker.canaries(self.secrets(), looked),
        ]
        self.exports.append(export)
        self.start_bridge()
        return list(map(str, found))


def _counts(record: checker.Record) -> list[tuple[str, int]]:
    return [(name, len(boot.kept)) for name, boot in record.boots.items()]


def _secret(word: str) -> bool:
    return len(word) >= 20 and not word.startswith(("http", "ws", "robot:", "-----"))
