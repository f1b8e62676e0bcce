"""What the journal is measured on: both engines as a deployment sets them, migrated, with a tail process that runs."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any

import psutil
import psycopg

from console.embedded.postgres import Cluster
from console.embedded.valkey import Server
from tests.bench.deployment import ROOT
from tests.engines import free_port

WITHIN_S = 3600.0


class Ground:
    """Starts on entry, ends and removes everything on exit."""

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="pilothouse-journal-"))
        self.postgres = Cluster(self.folder / "postgres", free_port())  # durable, as in a deployment
        self.valkey = Server(self.folder / "valkey", free_port())
        self.tail: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> "Ground":
        try:
            self.postgres.start()
            self.postgres.create_database()
            self.valkey.start()
            self.manage("prepare", PILOTHOUSE_DATABASE_URL=self.postgres.url("pilothouse"))
            command = [sys.executable, "manage.py", "journal", "tail"]
            with (self.folder / "tail.log").open("wb") as log:
                self.tail = subprocess.Popen(command, cwd=ROOT, env=self.environment(PILOTHOUSE_POOL_SIZE="3"), stderr=log)
        except BaseException:
            self._end()
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._end()

    def _end(self) -> None:
        if self.tail is not None:
            self.tail.terminate()
            try:
                self.tail.wait(timeout=20)
            except subprocess.TimeoutExpired:
                self.tail.kill()
        self.valkey.stop()
        self.postgres.stop()
        shutil.rmtree(self.folder, ignore_errors=True)

    def environment(self, **more: str) -> dict[str, str]:
        """What every program of this deployment reads."""
        return {
            **os.environ,
            "DJANGO_SETTINGS_MODULE": "console.settings.embedded",
            "PILOTHOUSE_DATA": str(self.folder / "data"),
            "PILOTHOUSE_DATABASE_URL": self.postgres.url("pilothouse_app"),
            "PILOTHOUSE_VALKEY_URL": self.valkey.url(),
            "PILOTHOUSE_SECRET_KEY": "only-for-this-measurement-0123456789-abcdefghijkl",
            "PILOTHOUSE_POOL_SIZE": "1",
            **more,
        }

    def manage(self, *words: str, **more: str) -> tuple[int, str, float]:
        """Run a command of the console: its exit code, what it printed, and its seconds."""
        begun = time.monotonic()
        command = [sys.executable, "manage.py", *words]
        done = subprocess.run(
            command, cwd=ROOT, env=self.environment(**more), stdout=subprocess.PIPE, text=True, timeout=WITHIN_S, check=False
        )
        return done.returncode, done.stdout, time.monotonic() - begun

    def start(self, module: str, given: dict[str, Any]) -> "subprocess.Popen[str]":
        """Start a program that is given JSON and prints one JSON object at its end."""
        command = [sys.executable, "-m", module, json.dumps(given)]
        return subprocess.Popen(
            command, cwd=ROOT, env=self.environment(), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def ask(self, statement: str) -> Any:
        """One value from the database."""
        with psycopg.connect(self.postgres.url("postgres"), connect_timeout=5) as opened:
            row = opened.execute(statement).fetchone()
        return row[0] if row else None

    def caught_up(self, events: int, within_s: float) -> float:
        """Wait until the tail has numbered and sealed that many; seconds it took."""
        begun = time.monotonic()
        while (self.ask("SELECT max(size) FROM journal_checkpoint") or 0) < events:
            if time.monotonic() - begun > within_s:
                raise RuntimeError(f"the tail did not come to {events} within {within_s} s")
            time.sleep(0.5)
        return time.monotonic() - begun

    @contextmanager
    def used(self, writers: list["subprocess.Popen[str]"]) -> Iterator[dict[str, float]]:
        """Processor seconds of database, tail and writers, once the block is over."""
        found: dict[str, float] = {}
        tail = psutil.Process(self.tail.pid) if self.tail else psutil.Process()
        own = [psutil.Process(process.pid) for process in writers]
        before_tail, before_own, before_database = _seconds([tail]), _seconds(own), _database(self.postgres.data)
        yield found
        found["tail"] = _seconds([tail]) - before_tail
        found["database"] = _database(self.postgres.data) - before_database
        found["writers"] = _seconds(own) - before_own


def _seconds(processes: list[psutil.Process]) -> float:
    total = 0.0
    for process in processes:
        try:
            times = process.cpu_times()
        except psutil.Error:
            continue
        total += times.user + times.system
    return total


def _database(data: Path) -> float:
    """Processor seconds of the server and of children it has, and had."""
    pid = int((data / "postmaster.pid").read_text().split()[0])
    top = psutil.Process(pid)
    times = top.cpu_times()
    return _seconds([top, *top.children(recursive=True)]) + times.children_user + times.children_system
