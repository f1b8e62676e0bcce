"""Valkey emptied and away, PostgreSQL restarted, the disk full: a whole console under load, the invariants after each.

Attacks 6, 7, 8 and 9. Their short forms are in tests/integration (realtime/test_hints.py, ingest/test_facts.py and
test_stop.py, console/test_health.py).
"""

import json
import os
import shutil
import signal
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
import redis
from websockets.sync.client import ClientConnection, connect

from console.embedded.valkey import Server
from tests.engines import free_port
from tests.faults.floor import ARMS, Floor
from tests.faults.traffic import FACTS_PER_SECOND, Discs, Writers, lost
from tests.integration.console.deployment import wait_for
from tests.served import COOKIE

pytestmark = [pytest.mark.faults, pytest.mark.timeout(900)]
AWAY_S, RESYNC_S, RESTARTED_S, DISK = 60.0, 5.0, 15.0, "1g"
LASTING = ("web-1", "web-2", "gateway", "worker", "beat", "tail")


@pytest.fixture(scope="module")
def valkey(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A Valkey beside the console, which nobody starts again."""
    server = Server(tmp_path_factory.mktemp("valkey"), free_port())
    with server.running():
        yield server


@pytest.fixture(scope="module")
def floor(tmp_path_factory: pytest.TempPathFactory, valkey: Server, request: pytest.FixtureRequest) -> Iterator[Floor]:
    """A console whose whole data folder is a small disk, and three arms."""
    folder = tmp_path_factory.mktemp("floor")
    guard = request.config.getoption("--guard-off")
    with _small_disk(folder / "data"):
        made = Floor(folder, guard_off=guard, PILOTHOUSE_VALKEY_URL=valkey.url())
        try:
            yield made.start()
        finally:
            made.stop()


@contextmanager
def _small_disk(path: Path) -> Iterator[None]:
    path.mkdir()
    if os.geteuid() != 0:
        pytest.skip("only root may mount a small disk")
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={DISK},mode=0700", "tmpfs", str(path)], check=True, timeout=10)
    try:
        yield
    finally:
        subprocess.run(["umount", "-l", str(path)], check=True, timeout=10)


class Tab:
    """A page's socket to the web process, which follows the journal's head of the site."""

    def __init__(self, floor: Floor) -> None:
        origin = f"http://localhost:{floor.console.port}"
        cookie = {"Cookie": f"{COOKIE}={floor.people['session']}"}
        address = f"ws://localhost:{floor.console.port}/ws/"
        self.socket: ClientConnection = connect(address, origin=origin, additional_headers=cookie, compression=None, proxy=None)
        self.topic = f"site.journal:{floor.people['site']}"
        topics = [{"topic": self.topic, "position": 0}]
        self.socket.send(json.dumps({"op": "subscribe", "topics": topics}))

    def reaches(self, position: int, within: float) -> int:
        """The position of the page, once it is so far. Raises TimeoutError."""
        ends, last = time.monotonic() + within, 0
        while last < max(1, position):
            frame: dict[str, Any] = json.loads(self.socket.recv(max(0.0, ends - time.monotonic())))
            if frame["op"] in {"fragments", "resync"}:
                last = frame["position"]
        return last


def head(floor: Floor) -> int:
    """What a page that is opened now is told."""
    tab = Tab(floor)
    try:
        return tab.reaches(1, 20)
    finally:
        tab.socket.close()


def shown(floor: Floor) -> int:
    """How many robots a page that is opened now sees move."""
    page = floor.page()
    try:
        page.send(json.dumps({"op": "watch", "site": floor.people["site"], "floor": True}))
        while (frame := json.loads(page.recv(10)))["op"] != "floor":
            pass
        return len(frame["rows"])
    finally:
        page.close()


def readiness(floor: Floor) -> dict[str, Any]:
    """What `/readyz` says; empty where nothing answers."""
    try:
        with urllib.request.urlopen(f"http://localhost:{floor.console.port}/readyz", timeout=10) as answer:
            return dict(json.load(answer))
    except urllib.error.HTTPError as error:
        return dict(json.load(error))
    except OSError:
        return {}


def reads(floor: Floor, path: str = "robots/") -> tuple[int, bytes]:
    """Status and body of a page of the site, for the viewer."""
    address = f"http://localhost:{floor.console.port}/sites/{floor.people['slug']}/{path}"
    asked = urllib.request.Request(address, headers={"Cookie": f"{COOKIE}={floor.people['session']}"})
    try:
        with urllib.request.urlopen(asked, timeout=20) as answer:
            return answer.status, answer.read()
    except urllib.error.HTTPError as error:
        return error.code, error.read()
    except OSError:
        return 0, b""


def pids(floor: Floor) -> dict[str, int]:
    """Of the processes that must live through it."""
    return {name: floor.console.pid_of(name) for name in LASTING}


def under_load(floor: Floor, attack: Callable[[Writers, Discs], None]) -> Writers:
    """Do something while people write and a bridge tells facts, and arms are at work. All that was told must be there then."""
    floor.wait_for_episodes(1)
    discs, writers = Discs(floor), Writers(floor)
    try:
        wait_for(lambda: discs.taken() > FACTS_PER_SECOND and len(writers.done) > 5, 60, "load")
        attack(writers, discs)
    finally:
        writers.end()
        discs.end()
    floor.settle()
    discs.rest()
    print(f"answers {dict(writers.answers)}, slowest {writers.late_s:.1f} s, {discs.taken()} facts")
    floor.wait_for_episodes(1)
    assert floor.findings() == []
    assert lost(writers, floor.exports[-1]) == []
    assert writers.wrong == []
    return writers


def test_everything_in_valkey_goes_under_load(floor: Floor, valkey: Server) -> None:
    """Attack 6: no fact is lost, pages are where the journal is within five seconds, and tasks go on."""
    before = pids(floor)

    def flush(writers: Writers, discs: Discs) -> None:
        tab = Tab(floor)
        tab.reaches(1, 20)
        with redis.Redis.from_url(valkey.url(), socket_timeout=5) as client:
            for _ in range(3):
                client.flushall()
                goal = head(floor)
                began = time.monotonic()
                tab.reaches(goal, RESYNC_S)
                print(f"pages followed {time.monotonic() - began:.2f} s after")
            wait_for(lambda: client.info("commandstats")["cmdstat_brpop"]["calls"] > 0, 20, "the worker asks for tasks")
        tab.socket.close()
        done = len(writers.done)
        wait_for(lambda: len(writers.done) > done, 20, "writes go on")

    under_load(floor, flush)
    wait_for(lambda: tasks_done(floor) > 0, 40, "tasks are done again")
    assert pids(floor) == before


def tasks_done(floor: Floor) -> int:
    """Tasks that the worker ended in the last moments."""
    text = (floor.console.data / "log" / "worker.log").read_text(errors="replace")
    before = text.count("succeeded in")
    time.sleep(6)
    return (floor.console.data / "log" / "worker.log").read_text(errors="replace").count("succeeded in") - before


def test_a_minute_without_valkey(floor: Floor, valkey: Server) -> None:
    """Attack 7: what needs PostgreSQL alone works, readiness says degraded, pages live, and nobody is started again."""
    before = pids(floor)

    def away(writers: Writers, discs: Discs) -> None:
        tab = Tab(floor)
        tab.reaches(1, 20)
        valkey.stop()
        began = time.monotonic()
        wait_for(lambda: readiness(floor).get("failed") == ["valkey"], 20, "readiness says that it is degraded")
        assert readiness(floor)["status"] == "degraded"
        while time.monotonic() - began < AWAY_S:
            asked, taken = time.monotonic(), discs.taken()
            status, body = reads(floor)
            assert (status, time.monotonic() - asked < 10) == (200, True)
            assert b"arm-01" in body
            tab.reaches(head(floor), RESYNC_S)
            assert shown(floor) >= ARMS
            wait_for(lambda: discs.taken() > taken, 10, "facts are taken")  # noqa: B023 - called at once
            time.sleep(2)
        assert writers.done_since(began) > 10
        valkey.start()
        wait_for(lambda: readiness(floor).get("status") == "ready", 30, "ready again")
        tab.reaches(head(floor), RESYNC_S)
        tab.socket.close()

    under_load(floor, away)
    wait_for(lambda: tasks_done(floor) > 0, 60, "tasks are done again")
    assert pids(floor) == before


def test_postgres_restarts_under_two_hundred_writes_a_second(floor: Floor) -> None:
    """Attack 8: what was acknowledged is there once, others were told 503 and when to come back, and the pools heal."""
    before = pids(floor)

    def restart(writers: Writers, discs: Discs) -> None:
        for _ in range(2):
            old = floor.console.pid_of("postgres")
            began, facts = time.monotonic(), discs.taken()
            os.kill(old, signal.SIGINT)  # as `pg_ctl restart` does: sessions are ended, their work undone
            wait_for(lambda: floor.console.pid_of("postgres") not in {0, old}, 40, "started again")  # noqa: B023
            back = time.monotonic()
            wait_for(lambda: writers.done_since(back) > 5, 30, "writes are done again")  # noqa: B023
            wait_for(lambda: discs.taken() > facts + FACTS_PER_SECOND, 30, "facts are taken again")  # noqa: B023
            print(f"back after {back - began:.1f} s, served after {time.monotonic() - began:.1f} s")
            time.sleep(RESTARTED_S / 3)

    writers = under_load(floor, restart)
    assert writers.answers[503] > 0
    assert pids(floor) == before


def fill(floor: Floor) -> Path:
    """Leave no byte of the console's disk."""
    path = floor.console.data / "filler"
    with path.open("wb") as file:
        for size in (2**24, 2**16, 4096, 1):
            with suppress(OSError):
                while True:
                    os.write(file.fileno(), b"\0" * size)
    assert shutil.disk_usage(floor.console.data).free < 2**16
    return path


def test_the_disk_is_full(floor: Floor) -> None:
    """Attack 9: writes are refused and say so, a Stop acts, pages are read, and it recovers when there is room again."""

    def full(writers: Writers, discs: Discs) -> None:
        page = floor.page()
        filler = fill(floor)
        try:
            wait_for(lambda: writers.answers[503] > 3, 60, "writes are refused")
            began = time.monotonic()
            stop = floor.press_stop(page)
            wait_for(lambda: floor.standing(stop) == ARMS, 5, "all arms say that they stand")
            print(f"all arms stood {time.monotonic() - began:.2f} s after")
            looked = [reads(floor, path)[0] for path in ("robots/", "floor/", "episodes/")]
            print(f"pages are answered with {looked}, readiness {readiness(floor)}")
            assert set(looked) == {200}
        finally:
            filler.unlink()
        freed = time.monotonic()
        wait_for(lambda: writers.done_since(freed) > 3, 90, "writes are done again")
        page.close()
        floor.settle()
        floor.clear_stop(stop)
        wait_for(lambda: len(floor.kept("stop_released")) >= ARMS, 20, "all arms say that they are free")

    under_load(floor, full)
