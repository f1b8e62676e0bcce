"""Web and gateway, for real: their own database on the run's PostgreSQL, collected static files, embedded settings."""

import json
import os
import subprocess
import sys
import tempfile
import time
import urllib.request
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

import psycopg

from tests.engines import VARIABLE, free_port

ROOT = Path(__file__).resolve().parents[2]
PASSWORD = "correct horse battery 42"
READY_S = 60


@dataclass
class Console:
    """One running web process, gateway and tail beside it, and how to reach them."""

    database: str
    folder: Path = field(default_factory=lambda: Path(tempfile.mkdtemp(prefix="pilothouse-browser-")))
    port: int = field(default_factory=free_port)
    gateway_port: int = field(default_factory=free_port)
    process: "subprocess.Popen[bytes] | None" = None
    gateway: "subprocess.Popen[bytes] | None" = None
    tail: "subprocess.Popen[bytes] | None" = None
    guard_off: str = ""

    @property
    def address(self) -> str:
        """Where a browser goes."""
        return f"http://localhost:{self.port}"

    @property
    def made(self) -> dict[str, str]:
        """Identifiers of what the seed made, by what they are."""
        return dict(json.loads((self.folder / "made.json").read_text()))

    @property
    def environment(self) -> dict[str, str]:
        """What the process reads."""
        engines = json.loads(os.environ[VARIABLE])
        return {
            **os.environ,
            **engines,
            "DJANGO_SETTINGS_MODULE": "console.settings.embedded",
            "PILOTHOUSE_DATABASE_URL": self._url(engines["PILOTHOUSE_DATABASE_URL"]),
            "PILOTHOUSE_MIGRATION_DATABASE_URL": self._url(engines["PILOTHOUSE_MIGRATION_DATABASE_URL"]),
            "PILOTHOUSE_DATA": str(self.folder),
            "PILOTHOUSE_PUBLIC_URL": self.address,
            "PILOTHOUSE_GATEWAY_URL": f"ws://localhost:{self.gateway_port}",
            "PILOTHOUSE_HOSTS": "localhost,127.0.0.1",
            "PILOTHOUSE_TEST_GUARD_OFF": self.guard_off,
        }

    def _url(self, url: str) -> str:
        return urlsplit(url)._replace(path=f"/{self.database}").geturl()

    def start(self) -> None:
        """Make the database, migrate, collect, seed, serve; returns when both answer."""
        self._make_database()
        self._run(["-m", "tests.browser.seed", PASSWORD])
        self.gateway = self._begin("gateway", self.gateway_port)
        self.tail = self._spawn("tail", ["manage.py", "journal", "tail"])  # without it pages would rightly show an alarm
        self.serve()
        self._wait_for(self.gateway, "gateway", f"http://localhost:{self.gateway_port}/healthz")

    def serve(self) -> None:
        """Start the web process alone, and wait until it answers."""
        self.process = self._begin("web", self.port)
        self._wait_for(self.process, "web", f"{self.address}/account/login/")

    def serve_gateway(self) -> None:
        """Start the gateway alone, and wait until it answers."""
        self.gateway = self._begin("gateway", self.gateway_port)
        self._wait_for(self.gateway, "gateway", f"http://localhost:{self.gateway_port}/healthz")

    def stop(self) -> None:
        """End both processes, and drop their database."""
        for process in (self.process, self.gateway, self.tail):
            if process is not None:
                end(process)
        self._execute(f'DROP DATABASE IF EXISTS "{self.database}" WITH (FORCE)')

    def _begin(self, name: str, port: int) -> "subprocess.Popen[bytes]":
        command = ["-m", "console.supervisor.serve", name, "--listen", f"127.0.0.1:{port}"]
        if self.guard_off:
            command += ["--app", f"tests.guarded_asgi:{name}"]
        return self._spawn(name, command)

    def _spawn(self, name: str, command: list[str]) -> "subprocess.Popen[bytes]":
        with (self.folder / f"{name}.log").open("ab") as log:
            return subprocess.Popen([sys.executable, *command], cwd=ROOT, env=self.environment, stdout=log, stderr=log)

    def _wait_for(self, process: "subprocess.Popen[bytes]", name: str, address: str) -> None:
        deadline = time.monotonic() + READY_S
        while not _answers(address):
            if process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError((self.folder / f"{name}.log").read_text()[-2000:])
            time.sleep(0.1)

    def _run(self, command: list[str]) -> None:
        done = subprocess.run(
            [sys.executable, *command], cwd=ROOT, env=self.environment, capture_output=True, text=True, timeout=120, check=False
        )
        if done.returncode:
            raise RuntimeError(f"{' '.join(command)}\n{done.stdout[-2000:]}{done.stderr[-2000:]}")

    def _make_database(self) -> None:
        self._execute(f'DROP DATABASE IF EXISTS "{self.database}" WITH (FORCE)')
        self._execute(f'CREATE DATABASE "{self.database}" OWNER pilothouse TEMPLATE template0')

    def _execute(self, statement: str) -> None:
        engines = json.loads(os.environ[VARIABLE])
        with psycopg.connect(engines["PILOTHOUSE_DATABASE_URL"], autocommit=True, connect_timeout=10) as connection:
            connection.execute(statement.encode())


def end(process: "subprocess.Popen[bytes]") -> None:
    """End a process of ours, gently first."""
    process.terminate()
    try:
        process.wait(timeout=10)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _answers(address: str) -> bool:
    try:
        with urllib.request.urlopen(address, timeout=2) as response:
            return bool(response.status == 200)
    except OSError:
        return False
