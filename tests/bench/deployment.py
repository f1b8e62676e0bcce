"""A console of its own for a measurement: `manage.py up` in a temporary folder, signed in as one of its demo accounts."""

import json
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

import httpx
import psutil
import psycopg

from tests.bench.client import KeepAlive
from tests.integration.console.deployment import free_ports

ROOT = Path(__file__).resolve().parents[2]
START_WITHIN_S = 120


class Deployment:
    """Starts on entry, ends and removes everything on exit. `started_s` is the time from the command to serving.

    `words` are those of `manage.py up`.
    """

    def __init__(self, words: Sequence[str] = ("--demo", "--without", "arms")) -> None:
        self.words = words
        self.folder = Path(tempfile.mkdtemp(prefix="pilothouse-bench-"))
        self.data = self.folder / "data"
        self.port = free_ports()  # its own, and those after it
        self.started_s = 0.0
        self.process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> "Deployment":
        begun = time.monotonic()
        command = [sys.executable, "manage.py", "up", *self.words, "--port", str(self.port), "--data", str(self.data)]
        with (self.folder / "up.log").open("wb") as log:
            self.process = subprocess.Popen(command, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        try:
            while not self.serves():
                if self.process.poll() is not None or time.monotonic() - begun > START_WITHIN_S:
                    raise RuntimeError(f"the console did not start:\n{(self.folder / 'up.log').read_text()[-2000:]}")
                time.sleep(0.1)
        except BaseException:
            self._end()
            raise
        self.started_s = time.monotonic() - begun
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._end()

    def _end(self) -> None:
        if self.process is not None and self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)  # one that was started in the background ignores SIGINT
            try:
                self.process.wait(timeout=30)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait(timeout=10)
        shutil.rmtree(self.folder, ignore_errors=True)

    @property
    def url(self) -> str:
        """Where it serves."""
        return f"http://localhost:{self.port}"

    def serves(self) -> bool:
        """Does it say it is ready?"""
        try:
            return httpx.get(f"{self.url}/readyz", timeout=5).status_code == 200
        except httpx.HTTPError:
            return False

    def settings(self) -> dict[str, str]:
        """What its own commands read."""
        return dict(json.loads((self.data / "run" / "environment.json").read_text()))

    def accounts(self) -> list[dict[str, Any]]:
        """The demo accounts with their passwords."""
        found = json.loads((self.data / "run" / "demo-accounts.json").read_text())
        return list(found["accounts"])

    def sign_in(self, role: str = "viewer") -> dict[str, str]:
        """The headers of a browser signed in as the demo account of a role."""
        return self.sign_in_as(next(one for one in self.accounts() if one["role"] == role))

    def sign_in_as(self, account: dict[str, Any]) -> dict[str, str]:
        """The headers of a browser signed in with this email and password."""
        with httpx.Client(base_url=self.url, timeout=20, follow_redirects=False) as browser:
            page = browser.get("/account/login/").text
            token = page.partition('name="csrfmiddlewaretoken" value="')[2].partition('"')[0]
            form = {"login": account["email"], "password": account["password"], "csrfmiddlewaretoken": token}
            answer = browser.post("/account/login/", data=form, headers={"Origin": self.url})
            if answer.status_code != 302:
                raise RuntimeError(f"{account['email']} could not sign in: {answer.status_code}")
            cookies = "; ".join(f"{one.name}={one.value}" for one in browser.cookies.jar)
        return {"Cookie": cookies, "User-Agent": "pilothouse-bench"}

    def floor(self, role: str = "viewer") -> str:
        """The path of a page that this role may see."""
        site = next(one["site"] for one in self.accounts() if one["role"] == role)
        return f"/sites/{site}/floor/"

    def client(self, **headers: str) -> KeepAlive:
        """One connection that stays open."""
        return KeepAlive("127.0.0.1", self.port, {"Host": f"localhost:{self.port}", **headers})

    def processes(self) -> list[psutil.Process]:
        """The supervisor and everything below it."""
        if self.process is None:
            return []
        top = psutil.Process(self.process.pid)
        return [top, *top.children(recursive=True)]

    def memory_bytes(self) -> int:
        """Proportional set size of all processes: shared pages count once."""
        return sum(proportional(one) for one in self.processes())

    def database_connections(self) -> int:
        """Connections that the console holds to PostgreSQL, this one not counted."""
        with psycopg.connect(self.settings()["PILOTHOUSE_DATABASE_URL"], connect_timeout=5, application_name="bench") as opened:
            row = opened.execute(
                "SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend' AND application_name <> 'bench'"
            ).fetchone()
        return int(row[0]) if row else 0


def proportional(process: psutil.Process) -> int:
    """PSS of one process; where the kernel does not tell, its resident size."""
    try:
        return int(process.memory_full_info().pss)
    except psutil.AccessDenied:
        return int(process.memory_info().rss)
    except psutil.Error:
        return 0
