"""The container form of a serving process: it opens its own socket and shares it among equal processes."""

import http.client
import os
import signal
import subprocess
import sys
from collections.abc import Iterator

import psutil
import pytest

from tests.integration.console.deployment import ROOT, free_ports, wait_for
from tests.integration.console.standin import APPLICATION


@pytest.fixture
def server() -> Iterator[tuple[subprocess.Popen[bytes], int]]:
    """Two processes on one port."""
    port = free_ports() + 4
    words = ["web", "--listen", f"127.0.0.1:{port}", "--processes", "2", "--app", APPLICATION]
    started = subprocess.Popen([sys.executable, "-m", "console.supervisor.serve", *words], cwd=ROOT, stderr=subprocess.DEVNULL)
    try:
        wait_for(lambda: len(answering(port, 20)) == 2, 20, "both answer")
        yield started, port
    finally:
        started.kill()
        started.wait()


def answering(port: int, tries: int) -> set[int]:
    """Ids of the processes that answered."""
    found = set()
    for _ in range(tries):
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
        try:
            connection.request("GET", "/")
            found.add(int(connection.getresponse().read().split()[0]))
        except (OSError, http.client.HTTPException):
            continue
        finally:
            connection.close()
    return found


def gone(pids: set[int]) -> None:
    """Fails unless all of them end in time."""
    wait_for(lambda: not any(psutil.pid_exists(pid) for pid in pids), 10, "the others ended too")


def test_the_end_of_one_ends_all_so_that_the_container_restarts(server: tuple[subprocess.Popen[bytes], int]) -> None:
    started, port = server
    children = answering(port, 40)
    assert started.pid not in children
    os.kill(next(iter(children)), signal.SIGKILL)
    assert started.wait(10) == 1
    gone(children)


def test_stopping_it_stops_all(server: tuple[subprocess.Popen[bytes], int]) -> None:
    started, port = server
    children = answering(port, 40)
    started.terminate()
    assert started.wait(10) == 0
    gone(children)


def test_its_own_end_ends_the_children(server: tuple[subprocess.Popen[bytes], int]) -> None:
    started, port = server
    children = answering(port, 40)
    started.kill()
    gone(children)
