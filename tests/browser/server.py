"""The web process, for real: its own database on the run's PostgreSQL, collected static files, embedded settings."""

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
READY_S = 40


@dataclass
class Console:
    """One running web process and how to reach it."""

    database: str
    folder: Path = field(default_factory=lambda: Path(tempfile.mkdtemp(prefix="pilothouse-browser-")))
    port: int = field(default_factory=free_port)
    process: "subprocess.Popen[bytes] | None" = None
    guard_off: str = ""

    @property
    def address(self) -> str:
        """Where a browser goes."""
        return f"http://localhost:{self.port}"

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
            "PILOTHOUSE_HOSTS": "localhost,127.0.0.1",
            "PILOTHOUSE_TEST_GUARD_OFF": self.guard_off,
        }

    def _url(self, url: str) -> str:
        return urlsplit(url)._replace(path=f"/{self.database}").geturl()

    def start(self) -> None:
        """Make the database, migrate, collect, seed, serve; returns when it answers."""
        self._make_database()
        self._run(["-m", "tests.browser.seed", PASSWORD])
        self.serve()

    def serve(self) -> None:
        """Start the web process alone, and wait until it answers."""
        application = "tests.guarded_asgi:web" if self.guard_off else "console.asgi:application"
        command = [sys.executable, "-m", "uvicorn", application, "--port", str(self.port), "--no-access-log"]
        log = (self.folder / "web.log").open("ab")
        self.process = subprocess.Popen(command, cwd=ROOT, env=self.environment, stdout=log, stderr=log)
        deadline = time.monotonic() + READY_S
        while not self._answers():
            if self.process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError((self.folder / "web.log").read_text()[-2000:])
            time.sleep(0.1)

    def stop(self) -> None:
        """End the web process, and drop its database."""
        if self.process is not None:
            self.process.terminate()
            try:
                self.process.wait(timeout=10)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        self._execute(f'DROP DATABASE IF EXISTS "{self.database}" WITH (FORCE)')

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

    def _answers(self) -> bool:
        try:
            with urllib.request.urlopen(f"{self.address}/account/login/", timeout=2) as response:
                return response.status == 200
        except OSError:
            return False
