"""What keeps a killed supervisor from leaving processes or refusing to start: with each guard off, it does.

The tests of the same things with the guards on are in tests/integration/console/test_supervisor.py.
"""

import contextlib
import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from tests.integration.console.deployment import Deployment

pytestmark = [pytest.mark.faults, pytest.mark.timeout(300)]


@pytest.fixture
def unguarded(tmp_path: Path) -> Iterator[Deployment]:
    """A deployment whose guards a test may switch off."""
    deployment = Deployment(tmp_path / "data")
    try:
        yield deployment
    finally:
        deployment.stop()


def kill_everything(deployment: Deployment) -> None:
    """As a power cut would."""
    for process in [psutil.Process(deployment.pid()), *deployment.processes()]:
        with contextlib.suppress(psutil.NoSuchProcess):
            process.kill()
    deployment.gone(5)
    deployment.stop()


def test_without_its_shadow_grandchildren_stay(unguarded: Deployment) -> None:
    unguarded.environment = {"PILOTHOUSE_STANDIN_WITHOUT": "shadow"}
    unguarded.start()
    os.kill(unguarded.pid(), signal.SIGKILL)
    time.sleep(12)
    assert [process.cmdline()[-1] for process in unguarded.processes()] == ["import time;time.sleep(3600)"]


def test_without_the_parent_death_signal_the_children_stay_too(unguarded: Deployment) -> None:
    unguarded.environment = {"PILOTHOUSE_STANDIN_WITHOUT": "shadow,parent-death"}
    unguarded.start()
    web = unguarded.pid_of("web-1")
    os.kill(unguarded.pid(), signal.SIGKILL)
    time.sleep(12)
    assert web in [process.pid for process in unguarded.processes()]


def test_with_its_shadow_they_do_not(unguarded: Deployment) -> None:
    unguarded.start()
    os.kill(unguarded.pid(), signal.SIGKILL)
    time.sleep(12)
    assert unguarded.processes() == []


def test_without_a_stale_lock_being_cleared_postgres_does_not_start(unguarded: Deployment) -> None:
    unguarded.start()
    kill_everything(unguarded)
    lock = unguarded.data / "postgres/data/postmaster.pid"
    lines = lock.read_text().splitlines()
    lock.write_text("\n".join([str(os.getpid()), *lines[1:]]) + "\n")  # its id went to somebody else since
    unguarded.environment = {"PILOTHOUSE_STANDIN_WITHOUT": "stale-lock"}
    ended = unguarded.run("up", "--port", str(unguarded.port))
    assert ended.returncode == 1
    assert "postgres ended with code 1" in ended.stderr
    unguarded.environment = {}
    unguarded.start()
    assert unguarded.get() == 200


def test_without_the_folder_lock_a_second_start_is_not_told(unguarded: Deployment) -> None:
    unguarded.start()
    second = Deployment(unguarded.data)
    assert "is in use by process" in second.run("up", "--port", str(unguarded.port)).stderr
    second.environment = {"PILOTHOUSE_STANDIN_WITHOUT": "folder-lock"}
    assert "is in use by process" not in second.run("up", "--port", "1").stderr
