"""Attack 17 on real arms: twelve of them, at full load, and nobody where Valkey should be."""

import time
from collections.abc import Iterator
from datetime import datetime

import pytest

from console.embedded.valkey import Server
from tests.engines import free_port
from tests.faults import checker
from tests.faults.floor import Floor
from tests.faults.traffic import Discs, Writers
from tests.integration.console.deployment import wait_for

pytestmark = [pytest.mark.faults, pytest.mark.alone, pytest.mark.timeout(900)]
ARMS, TIMES = 12, 9  # a hundred and eight arms stop
LATE_MS = 250


@pytest.fixture
def floor(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Floor]:
    """A console with as many arms as `make demo`, whose Valkey goes away."""
    valkey = Server(tmp_path_factory.mktemp("valkey"), free_port())
    valkey.start()
    made = Floor(tmp_path_factory.mktemp("floor"), arms=ARMS, PILOTHOUSE_VALKEY_URL=valkey.url())
    try:
        made.start()
        valkey.stop()
        yield made
    finally:
        made.stop()
        valkey.stop()


def received(floor: Floor) -> dict[str, int]:
    """When the gateway received each Stop, in milliseconds, as the journal has it."""
    export = floor.folder / f"stops-{time.monotonic_ns()}.jsonl"
    done = floor.console.run("journal", "export", str(export), within=120)
    assert done.returncode == 0, done.stdout + done.stderr
    events = checker.read_export(export).of("control.stop_requested")
    at = {event.payload["stop_id"]: datetime.fromisoformat(event.payload["received_at"]) for event in events}
    return {stop: int(moment.timestamp() * 1000) for stop, moment in at.items()}


def test_all_arms_stop_in_time_at_full_load(floor: Floor) -> None:
    discs, writers = Discs(floor), Writers(floor)
    try:
        wait_for(lambda: discs.taken() > 0 and len(writers.done) > 3, 60, "load")
        for _ in range(TIMES):
            page = floor.page()
            stop = floor.press_stop(page)
            wait_for(lambda: floor.standing(stop) == ARMS, 10, "all arms say that they stand")  # noqa: B023
            page.close()
            floor.clear_stop(stop)
            wait_for(lambda: _free(floor, str(stop)) == ARMS, 20, "all arms say that they are free")  # noqa: B023
    finally:
        writers.end()
        discs.end()
    floor.settle()
    pressed = received(floor)
    late = sorted(one["body"]["ended_at_ms"] - pressed[one["body"]["stop"]] for one in floor.kept("stop_latched"))
    print(f"{len(late)} arms stopped: p50 {late[len(late) // 2]} ms, p99 {late[int(len(late) * 0.99)]} ms")
    assert len(late) == ARMS * TIMES
    assert late[int(len(late) * 0.99)] <= LATE_MS
    assert floor.findings() == []


def _free(floor: Floor, stop: str) -> int:
    return sum(one["body"]["stop"] == stop for one in floor.kept("stop_released"))
