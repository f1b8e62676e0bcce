"""A deployment with many subjects, programs beside it, and the CPU that each part uses."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, LiteralString

import psutil
import psycopg

from tests.bench.deployment import ROOT, Deployment

GATEWAY = ("console.supervisor.serve", "gateway")


class Stage(Deployment):
    """A console with `subjects` on `bridges`, all at one simulated site. `world` is what `seed` made."""

    def __init__(self, subjects: int, bridges: int, words: Sequence[str] = ()) -> None:
        super().__init__(words)
        self.subjects, self.bridges = subjects, bridges
        self.world: dict[str, Any] = {}

    def __enter__(self) -> "Stage":
        super().__enter__()
        try:
            self.world = json.loads(self.run("tests.bench.core.seed", self.subjects, self.bridges))
        except BaseException:
            self._end()
            raise
        return self

    def environment(self) -> dict[str, str]:
        """What a program beside the deployment reads."""
        chosen = {"DJANGO_SETTINGS_MODULE": "console.settings.embedded", "PILOTHOUSE_DATA": str(self.data)}
        return {**os.environ, **self.settings(), **chosen}

    @property
    def gateway_url(self) -> str:
        """Where machines and pages find the gateway, without a path."""
        return self.settings()["PILOTHOUSE_GATEWAY_URL"]

    def run(self, module: str, *words: object, within_s: float = 300) -> str:
        """Run a program to its end; what it printed."""
        command = [sys.executable, "-m", module, *map(str, words)]
        done = subprocess.run(
            command, cwd=ROOT, env=self.environment(), stdout=subprocess.PIPE, text=True, timeout=within_s, check=True
        )
        return done.stdout

    @contextmanager
    def beside(self, module: str, given: dict[str, Any]) -> Iterator["Beside"]:
        """Run a program that reads `given` as JSON and says one line of JSON at its end."""
        program = Beside(self, module, given)
        try:
            yield program
        finally:
            program.end()

    def ask(self, statement: LiteralString, *given: object) -> int:
        """One number from the database."""
        with psycopg.connect(self.settings()["PILOTHOUSE_DATABASE_URL"], connect_timeout=5) as opened:
            row = opened.execute(statement, given).fetchone()
        return int(row[0]) if row else 0

    def gateway(self) -> psutil.Process:
        """The one gateway. Raises LookupError."""
        for process in self.processes():
            words = process.cmdline()
            if all(word in words for word in GATEWAY):
                return process
        raise LookupError("no gateway runs")

    def parts(self) -> dict[str, list[psutil.Process]]:
        """Processes by what they are."""
        found: dict[str, list[psutil.Process]] = {"gateway": [self.gateway()], "database": [], "others": []}
        for process in self.processes():
            if process.pid == found["gateway"][0].pid:
                continue
            with_name = _name(process)
            found["database" if with_name.startswith("postgres") else "others"].append(process)
        return found


class Beside:
    """A program that runs beside the deployment."""

    def __init__(self, stage: Stage, module: str, given: dict[str, Any]) -> None:
        command = [sys.executable, "-m", module]
        self.module = module
        self.process = subprocess.Popen(
            command, cwd=ROOT, env=stage.environment(), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(given) + "\n")
        self.process.stdin.flush()

    def go(self) -> None:
        """Let it begin."""
        assert self.process.stdin is not None
        self.process.stdin.write("go\n")
        self.process.stdin.flush()

    def heard(self) -> dict[str, Any]:
        """The next line it says. Raises RuntimeError when it ends without one."""
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(f"{self.module} ended with {self.process.wait(timeout=10)}")
        return dict(json.loads(line))

    def end(self) -> None:
        """End it, if it still runs."""
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(timeout=10)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait(timeout=10)


class Cpu:
    """Cores that some processes use between two looks. A process that ended meanwhile counts with what it had used."""

    def __init__(self, processes: list[psutil.Process]) -> None:
        self._processes = processes
        self._began, self._used = time.monotonic(), self._now()

    def cores(self) -> float:
        """Mean number of cores since the start."""
        return (self._now() - self._used) / (time.monotonic() - self._began)

    def _now(self) -> float:
        total = 0.0
        for process in self._processes:
            try:
                times = process.cpu_times()
            except psutil.Error:
                continue
            total += times.user + times.system
        return total


def family(pid: int) -> list[psutil.Process]:
    """A process and all below it."""
    top = psutil.Process(pid)
    return [top, *top.children(recursive=True)]


def _name(process: psutil.Process) -> str:
    try:
        return Path(process.name()).name
    except psutil.Error:
        return ""
