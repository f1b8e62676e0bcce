"""Serving processes started for tests on a database of their own, and people who open sockets to them."""

import asyncio
import json
import os
import subprocess
import sys
import time
import urllib.request
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from urllib.parse import urlsplit

import psutil
import psycopg
import pytest
from django.core.management import call_command
from django.db import connection
from websockets.asyncio.client import connect

from tests import engines

ROOT = Path(__file__).resolve().parent.parent
COOKIE = "pilothouse_session"
_numbers = count(1)
_TEMPLATES: set[str] = set()


class Served:
    """One serving process, started as the supervisor starts it, with `tests.guarded_asgi` as its application."""

    def __init__(
        self, name: str, folder: Path, database_url: str, guard_off: str = "", port: int = 0, **variables: str
    ) -> None:
        self.name, self.port = name, port or engines.free_port()
        self.address = f"http://localhost:{self.port}"
        self.socket = f"ws://localhost:{self.port}/{'ws/' if name == 'web' else 'machine'}"
        self._log = folder / f"{name}-{self.port}.log"
        command = [sys.executable, "-m", "console.supervisor.serve", name, "--listen", f"127.0.0.1:{self.port}"]
        environment = {
            **os.environ,
            "DJANGO_SETTINGS_MODULE": "console.settings.embedded",
            "PILOTHOUSE_DATABASE_URL": database_url,
            "PILOTHOUSE_PUBLIC_URL": self.address,
            "PILOTHOUSE_HOSTS": "localhost,127.0.0.1",
            "PILOTHOUSE_TEST_GUARD_OFF": guard_off,
            "PILOTHOUSE_DATA": str(folder),
            **variables,
        }
        with self._log.open("wb") as log:
            self.process = subprocess.Popen(
                [*command, "--app", f"tests.guarded_asgi:{name}"], cwd=ROOT, env=environment, stdout=log, stderr=log
            )
        self.inside = psutil.Process(self.process.pid)
        deadline = time.monotonic() + 40
        while not self._answers():
            if self.process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(self.log())
            time.sleep(0.05)

    def log(self) -> str:
        """What the process wrote."""
        return self._log.read_text(errors="replace")[-20000:]

    def insides(self) -> dict[str, int]:
        """Counts of what the process holds."""
        with urllib.request.urlopen(f"{self.address}/-/insides", timeout=10) as response:
            return json.load(response)

    def memory(self) -> float:
        """Resident memory in MiB."""
        return self.inside.memory_info().rss / 2**20

    def stop(self) -> None:
        """End the process."""
        self.process.terminate()
        try:
            self.process.wait(timeout=15)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def _answers(self) -> bool:
        try:
            return "tasks" in self.insides()
        except OSError:
            return False


@dataclass
class World:
    """A database of its own that serving processes share with the tests of one module."""

    url: str
    folder: Path
    guard_off: str
    _started: list[Served] = field(default_factory=list)

    def serve(self, name: str, *, port: int = 0, **variables: str) -> Served:
        """Start a process; it ends with the module."""
        self._started.append(Served(name, self.folder, self.url, self.guard_off, port, **variables))
        return self._started[-1]

    def stop(self) -> None:
        """End every process."""
        for one in self._started:
            one.stop()
            print(one.log()[-3000:])  # shown beside a failure

    @staticmethod
    async def do(act, *given, **named):
        """Run a function that uses the database, in a thread with a connection of its own."""

        def run():
            try:
                return act(*given, **named)
            finally:
                connection.close()

        return await asyncio.to_thread(run)

    async def site(self):
        """A new site."""
        from tests.factories.accounts import make_site

        return await self.do(make_site, f"hall-{next(_numbers)}")

    async def person(self, site=None, *roles):
        """A new person with roles at the site, signed in: the person and their session key."""
        from tests.factories import accounts

        def make():
            person = accounts.make_person(f"Someone {next(_numbers)}", email=f"someone-{next(_numbers)}@example.test")
            if site is not None:
                accounts.grant(person, site, *roles)
            return person, accounts.client_of(person).cookies[COOKIE].value

        return await self.do(make)

    async def grow(self, stream, site_id=None, times=1):
        """Append facts to a stream: a new name of a site, which nothing projects."""
        await self.do(append, stream, site_id, times)


def append(stream, site_id=None, times=1):
    """Append facts to a stream, each in its own transaction."""
    from uuid import uuid4

    from apps.accounts.events import SiteSettingsChanged
    from apps.journal.services import operation
    from apps.kernel.types import system_actor

    for _ in range(times):
        fact = SiteSettingsChanged(site_id=site_id or uuid4(), name="Hall", time_zone="UTC", version=1)
        with operation(system_actor("tests"), "tests.append") as act:
            act.append(stream, [fact], site_id=site_id)


def page_of(served: Served, session: str = "", *, origin: str | None = "", headers=(), path: str = "", **options):
    """Open a page's socket; an empty origin means the right one, None none at all."""
    cookie = [("Cookie", f"{COOKIE}={session}")] if session else []
    given = served.address if origin == "" else origin
    return connect(
        served.socket + path,
        origin=given,
        additional_headers=[*cookie, *headers],
        compression=None,
        proxy=None,
        **{"close_timeout": 3} | options,
    )


async def say(socket, **frame):
    """Send one frame of a page."""
    await socket.send(json.dumps(frame))


async def hear(socket, *ops, within=15.0):
    """The next frame of one of these kinds."""
    async with asyncio.timeout(within):
        while True:
            frame = json.loads(await socket.recv())
            if not ops or frame["op"] in ops:
                return frame


async def follow(socket, *topics, position=0):
    """Subscribe, and wait for the answer."""
    await say(socket, op="subscribe", topics=[{"topic": topic, "position": position} for topic in topics])
    return await hear(socket, "subscribed", "refused")


def _server():
    url = urlsplit(os.environ["PILOTHOUSE_DATABASE_URL"])._replace(path="/postgres")
    return psycopg.connect(url.geturl(), autocommit=True)


@contextmanager
def _connected_to(name):
    """Every connection of this process goes to the database of this name meanwhile."""
    settings, before = connection.settings_dict, connection.settings_dict["NAME"]
    connection.close()
    settings["NAME"] = name
    try:
        yield
    finally:
        connection.close()
        settings["NAME"] = before


def _drop(name):
    with _server() as server:
        server.execute(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)')


@pytest.fixture(scope="session")
def migrated(django_db_blocker):
    """The name of a migrated, empty database to be copied; one a run, however many folders ask."""
    name = f"sockets_{os.getpid()}"
    if name in _TEMPLATES:
        yield name
        return
    _TEMPLATES.add(name)
    with _server() as server:
        server.execute(f'CREATE DATABASE "{name}" TEMPLATE template0')
    with django_db_blocker.unblock(), _connected_to(name):
        call_command("migrate", verbosity=0, interactive=False)
    yield name
    _drop(name)


@pytest.fixture(scope="module")
def world(request, migrated, django_db_blocker, tmp_path_factory):
    """A copy of the migrated database, to which this module's writes go."""
    name = f"{migrated}_copy"
    _drop(name)
    with _server() as server:
        server.execute(f'CREATE DATABASE "{name}" TEMPLATE "{migrated}"')
    url = urlsplit(os.environ["PILOTHOUSE_DATABASE_URL"])._replace(path=f"/{name}").geturl()
    made = World(url, tmp_path_factory.mktemp("served"), request.config.getoption("--guard-off"))
    with django_db_blocker.unblock(), _connected_to(name):
        yield made
        made.stop()
    _drop(name)


@pytest.fixture(scope="module")
def web(world):
    """One web process."""
    return world.serve("web")


@pytest.fixture(scope="module")
def gateway(world):
    """One gateway."""
    return world.serve("gateway")
