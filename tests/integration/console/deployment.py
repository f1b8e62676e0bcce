"""Drives a deployment as a person would: by the commands and by signals, judging it by the process list."""

import contextlib
import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import psutil

ROOT = Path(__file__).resolve().parents[3]
STANDIN = ("-m", "tests.integration.console.standin")
REAL = ("manage.py",)


def free_ports() -> int:
    """The first of four ports in a row that are free, away from where the others look."""
    for base in range(24000 + (os.getpid() % 500) * 8, 32000, 8):
        if all(_free(port) for port in range(base, base + 4)):
            return base
    raise AssertionError("no four free ports in a row")


def _free(port: int) -> bool:
    with socket.socket() as tried:
        tried.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            tried.bind(("127.0.0.1", port))
        except OSError:
            return False
        return True


def wait_for(condition: Callable[[], bool], within: float, what: str) -> None:
    """Wait until it holds."""
    deadline = time.monotonic() + within
    while not condition():
        assert time.monotonic() < deadline, f"not within {within} s: {what}"
        time.sleep(0.05)


def _as_from_a_terminal() -> None:
    """A run in the background ignores Ctrl-C and hands that on, which `up` would rightly respect."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


class Deployment:
    """One data folder and the supervisor that runs it."""

    def __init__(self, data: Path, entry: tuple[str, ...] = STANDIN, port: int = 0) -> None:
        self.data = data
        self.entry = entry
        self.port = port or free_ports()
        self.up: subprocess.Popen[str] | None = None
        self.environment: dict[str, str] = {}

    def command(self, *words: str) -> list[str]:
        """One of our commands on this data folder."""
        return [sys.executable, *self.entry, *words, "--data", str(self.data)]

    def run(self, *words: str, within: float = 60) -> subprocess.CompletedProcess[str]:
        """Run a command to its end."""
        return subprocess.run(
            self.command(*words),
            cwd=ROOT,
            env=_environment() | self.environment,
            capture_output=True,
            text=True,
            timeout=within,
            check=False,
        )

    def start(self, *words: str, within: float = 60) -> "Deployment":
        """`up`, until it serves."""
        self.up = subprocess.Popen(
            self.command("up", "--port", str(self.port), *words),
            cwd=ROOT,
            env=_environment() | self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
            preexec_fn=_as_from_a_terminal,
        )
        assert self.up.stdout is not None
        said = ""
        deadline = time.monotonic() + within
        for line in self.up.stdout:
            said += line
            if "serves at" in line:
                return self
            assert time.monotonic() < deadline, said
        raise AssertionError(f"ended with {self.up.wait()}: {said}")

    def pid(self) -> int:
        """The supervisor."""
        assert self.up is not None
        return self.up.pid

    def processes(self) -> list[psutil.Process]:
        """Every process that has to do with the data folder, by command line, environment or working folder."""
        wanted = str(self.data)
        found = []
        for process in psutil.process_iter():
            if process.pid == os.getpid() or process.pid == os.getppid():
                continue
            try:
                if process.status() == psutil.STATUS_ZOMBIE:
                    continue
                known = [*process.cmdline(), process.cwd(), Path(f"/proc/{process.pid}/environ").read_bytes().decode()]
            except (psutil.Error, OSError, UnicodeDecodeError):
                continue
            if any(wanted in one for one in known):
                found.append(process)
        return found

    def gone(self, within: float = 12) -> None:
        """Fails unless no process is left in time."""
        deadline = time.monotonic() + within
        while left := self.processes():
            assert time.monotonic() < deadline, f"still there after {within} s: {left}"
            time.sleep(0.1)

    def state(self) -> dict[str, dict[str, object]]:
        """What `status` says, by name of process."""
        return {one["name"]: one for one in json.loads(self.run("status", "--json").stdout)["processes"]}

    def pid_of(self, name: str) -> int:
        """The process id of one supervised process now, or 0. Read from the file: starting Python would take longer."""
        noted = json.loads((self.data / "run" / "status.json").read_text())
        one = next(one for one in noted["processes"] if one["name"] == name)
        return int(one["pid"] or 0) if one["state"] == "running" else 0

    def get(self, path: str = "/healthz", port: int = 0) -> int:
        """Status of a GET; 0 for no answer."""
        connection = http.client.HTTPConnection("127.0.0.1", port or self.port, timeout=5)
        try:
            connection.request("GET", path)
            return connection.getresponse().status
        except (OSError, http.client.HTTPException):
            return 0
        finally:
            connection.close()

    def kill(self, name: str) -> None:
        """kill -9 of one process; waits until another has taken its place."""
        before = self.pid_of(name)
        assert before, f"{name} does not run"
        os.kill(before, signal.SIGKILL)
        wait_for(lambda: self.pid_of(name) not in (0, before), 40, f"{name} was not started again")

    def stop(self) -> None:
        """Whatever state it is in, leave nothing behind."""
        if self.up is not None and self.up.poll() is None:
            self.up.send_signal(signal.SIGTERM)
            try:
                self.up.wait(20)
            except subprocess.TimeoutExpired:
                self.up.kill()
        for process in self.processes():
            with contextlib.suppress(psutil.NoSuchProcess):
                process.kill()
        if self.up is not None:
            self.up.wait()
            if self.up.stdout:
                self.up.stdout.close()


def _environment() -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PILOTHOUSE_")}
    kept.pop("DJANGO_SETTINGS_MODULE", None)
    return kept
