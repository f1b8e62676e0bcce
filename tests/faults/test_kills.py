"""kill -9 of each process of the whole console and of the supervisor in turn: recovered, or cleanly gone."""

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from tests.integration.console.deployment import REAL, ROOT, Deployment, wait_for

pytestmark = [pytest.mark.faults, pytest.mark.timeout(600)]
SUPERVISED = ("postgres", "valkey", "web-1", "web-2", "gateway", "worker", "beat")


@pytest.fixture(scope="module")
def console(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Deployment]:
    """The whole console, serving."""
    deployment = Deployment(tmp_path_factory.mktemp("console") / "data", REAL)
    try:
        yield deployment.start(within=120)
    finally:
        deployment.stop()


def ready(console: Deployment) -> None:
    """It must serve again, and say so, within thirty seconds."""
    wait_for(lambda: console.get("/readyz") == 200 and console.get("/healthz") == 200, 30, "ready")
    wait_for(lambda: console.get("/healthz", console.port + 1) == 200, 30, "gateway ready")
    wait_for(lambda: all(console.pid_of(name) for name in SUPERVISED), 60, "every process runs")


def children(console: Deployment, name: str) -> int:
    """How many children a supervised process has now; none while it is being restarted."""
    try:
        return len(psutil.Process(console.pid_of(name) or -1).children())
    except (psutil.NoSuchProcess, ValueError):
        return 0


@pytest.mark.parametrize("name", SUPERVISED)
def test_each_process_three_times(console: Deployment, name: str) -> None:
    ready(console)
    before = len(console.processes())
    for _ in range(3):
        console.kill(name)
        ready(console)
    wait_for(lambda: len(console.processes()) <= before + 3, 20, "no more processes than before")


@pytest.mark.parametrize("name", ["worker", "postgres"])
def test_children_of_a_process_come_back(console: Deployment, name: str) -> None:
    ready(console)
    parent = psutil.Process(console.pid_of(name))
    wait_for(lambda: len(parent.children()) >= 2, 20, "it has children")
    killed = parent.children(recursive=True)
    for child in killed:
        with contextlib.suppress(psutil.NoSuchProcess):
            child.kill()
    wait_for(lambda: not any(child.is_running() and child.status() != psutil.STATUS_ZOMBIE for child in killed), 10, "killed")
    wait_for(lambda: children(console, name) >= 2, 60, "it has children again")
    ready(console)


def test_a_process_that_hangs_is_replaced(console: Deployment) -> None:
    ready(console)
    before = console.pid_of("gateway")
    os.kill(before, signal.SIGSTOP)
    wait_for(lambda: console.pid_of("gateway") not in (0, before), 60, "the stopped gateway was replaced")
    ready(console)
    assert not psutil.pid_exists(before)


def test_engines_at_once(console: Deployment) -> None:
    ready(console)
    for name in ("postgres", "valkey"):
        os.kill(console.pid_of(name), signal.SIGKILL)
    time.sleep(1)
    ready(console)
    wait_for(lambda: "pong" in ping(console), 40, "the worker takes tasks again")


def ping(console: Deployment) -> str:
    """What the worker answers through the queue."""
    asked = subprocess.run(
        [sys.executable, "-m", "celery", "-A", "console", "inspect", "ping", "--timeout", "5"],
        cwd=ROOT,
        env={"PATH": os.environ["PATH"], "PILOTHOUSE_DATA": str(console.data)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    return asked.stdout


def test_supervisor_with_and_without_time_to_stop(console: Deployment) -> None:
    for wait in (True, False):
        ready(console)
        assert console.up is not None
        console.up.kill()
        console.up.wait()
        if wait:
            console.gone(15)
        began = time.monotonic()
        console.start(within=60)
        assert time.monotonic() - began < 30
    ready(console)


def test_everything_at_once_with_a_damaged_schedule(console: Deployment) -> None:
    ready(console)
    for process in [psutil.Process(console.pid()), *console.processes()]:
        with contextlib.suppress(psutil.NoSuchProcess):
            process.kill()
    console.gone(5)
    assert console.up is not None
    console.up.wait()
    schedules = list((console.data / "run").glob("beat-schedule*")) or [console.data / "run" / "beat-schedule"]
    for path in schedules:
        path.write_bytes(b"\0garbage" * 512)
    (console.data / "postgres/data/postmaster.pid").write_text(f"{os.getpid()}\n{console.data}/postgres/data\n")
    console.start(within=60)
    ready(console)


def test_ctrl_c_within_ten_seconds(console: Deployment) -> None:
    ready(console)
    began = time.monotonic()
    os.kill(console.pid(), signal.SIGINT)
    assert console.up is not None
    assert console.up.wait(15) == 0
    assert time.monotonic() - began < 10
    assert console.processes() == []


def test_memory_of_the_plain_console(console: Deployment) -> None:
    if not Path("/proc/self/smaps_rollup").exists():
        pytest.skip("this kernel does not tell shared memory apart")
    if console.up is None or console.up.poll() is not None:
        console.start(within=60)
    ready(console)
    total = sum(process.memory_full_info().pss for process in console.processes())
    assert total < 1.5 * 2**30, f"{total / 2**20:.0f} MB"
