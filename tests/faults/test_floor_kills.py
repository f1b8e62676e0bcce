"""kill -9 of each process while arms work, and after each: the standing invariants, judged from outside.

Attacks 7, 8 and 17 for the whole console: what was acknowledged is kept, and a Stop holds through the restart of everything.
"""

import os
import signal
import time
from collections.abc import Iterator

import psutil
import pytest

from tests.faults.floor import ARMS, Floor
from tests.integration.console.deployment import wait_for

pytestmark = [pytest.mark.faults, pytest.mark.timeout(900)]


@pytest.fixture(scope="module")
def floor(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Floor]:
    """A console and three arms."""
    made = Floor(tmp_path_factory.mktemp("floor"))
    try:
        yield made.start()
    finally:
        made.stop()


def in_an_episode(floor: Floor) -> bool:
    return len(floor.kept("episode_started")) > len(floor.kept("episode_ended"))


def test_nothing_is_found_before_anything_was_done(floor: Floor) -> None:
    assert floor.findings() == []
    assert len(floor.secrets()) > 4


@pytest.mark.parametrize("name", ["web-1", "gateway", "worker", "valkey", "postgres", "tail", "bridge"])
def test_each_is_killed_during_an_episode(floor: Floor, name: str) -> None:
    floor.wait_for_episodes(1)
    wait_for(lambda: in_an_episode(floor), 30, "an episode runs")
    if name == "bridge":
        floor.kill_bridge()
    else:
        floor.console.kill(name)
    floor.wait_for_episodes(1)
    assert floor.findings() == []


def test_a_stop_acts_without_engines_and_holds_through_the_restart_of_everything(floor: Floor) -> None:
    """Attack 17."""
    floor.wait_for_episodes(1)
    engines = [psutil.Process(floor.console.pid_of(name)) for name in ("postgres", "valkey")]
    frozen = [one for engine in engines for one in (engine, *engine.children(recursive=True))]
    page = floor.page()
    for process in frozen:
        process.suspend()
    try:
        stop = floor.press_stop(page)
        pressed = time.monotonic()
        wait_for(lambda: floor.standing(stop) == ARMS, 5, "all arms say that they stand")
        assert time.monotonic() - pressed < 2
    finally:
        for process in frozen:
            process.resume()
        page.close()
    assert floor.console.up is not None
    os.kill(floor.console.pid(), signal.SIGKILL)
    floor.bridge.kill()
    floor.bridge.wait()
    floor.console.up.wait()
    floor.console.gone(20)
    floor.console.start(within=120)
    started = len(floor.kept("episode_started"))
    floor.start_bridge()
    floor.settle()
    time.sleep(5)
    assert len(floor.kept("episode_started")) == started
    assert floor.findings() == []
    floor.clear_stop(stop)
    wait_for(lambda: len(floor.kept("stop_released")) == ARMS, 20, "all arms say that they are free")
    floor.wait_for_episodes(1)
    assert floor.findings() == []
