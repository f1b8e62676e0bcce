"""What the empty console costs: `python -m tests.bench.base [--smoke]`. One JSON object a line; non-zero when a goal fails.

All figures come from one deployment in one run, so they may be compared with each other; each is the median of three.
"""

import argparse
import json
import math
import statistics
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from tests.bench.appends import rate
from tests.bench.deployment import Deployment

MEBIBYTE = 2**20


@dataclass(frozen=True)
class Figure:
    """One figure; `goal` is an upper limit unless `at_least`."""

    name: str
    value: float
    unit: str
    goal: float | None = None
    at_least: bool = False

    @property
    def holds(self) -> bool | None:
        """Whether the goal is met; None without one."""
        if self.goal is None:
            return None
        return self.value >= self.goal if self.at_least else self.value <= self.goal

    def line(self) -> str:
        """As JSON."""
        value = None if math.isnan(self.value) else round(self.value, 3)  # JSON has no word for what was not measured
        shown = {"name": self.name, "value": value, "unit": self.unit, "goal": self.goal, "holds": self.holds}
        return json.dumps(shown)


@dataclass(frozen=True)
class Size:
    """How much is measured."""

    requests: int
    steady_s: float
    rounds: int = 3


FULL, SMOKE = Size(requests=300, steady_s=60), Size(requests=20, steady_s=5, rounds=1)
RATE = 50.0


def median_of(rounds: int, measure: Callable[[], float]) -> float:
    """The middle of several measurements."""
    return statistics.median(measure() for _ in range(rounds))


def latency(deployment: Deployment, path: str, headers: dict[str, str], size: Size) -> float:
    """Median milliseconds of a GET on a connection that stays open."""

    def once() -> float:
        with deployment.client(**headers) as client:
            client.timed(path, 10)
            return statistics.median(client.timed(path, size.requests)) * 1000

    return median_of(size.rounds, once)


def steady(deployment: Deployment, path: str, headers: dict[str, str], size: Size) -> Iterator[Figure]:
    """Fifty requests a second over four connections: late answers and growth of PostgreSQL connections."""
    taken: list[float] = []
    faults: list[str] = []
    ends = time.monotonic() + size.steady_s

    def send(offset: float) -> None:
        due = time.monotonic() + offset
        try:
            with deployment.client(**headers) as client:
                while due < ends:
                    time.sleep(max(0.0, due - time.monotonic()))
                    status, _ = client.get(path)
                    taken.append(time.monotonic() - due)  # from when it was due, so that a queue shows
                    if status != 200:
                        faults.append(f"status {status}")
                    due += 4 / RATE
        except OSError as error:
            faults.append(str(error))

    threads = [threading.Thread(target=send, args=(number / RATE,)) for number in range(4)]
    for thread in threads:
        thread.start()
    time.sleep(size.steady_s * 0.2)
    early = deployment.database_connections()
    counts = [early]
    while time.monotonic() < ends - 0.5:
        time.sleep(min(5.0, size.steady_s / 5))
        counts.append(deployment.database_connections())
    for thread in threads:
        thread.join(timeout=30)
    yield Figure("page at 50/s: answered", len(taken) / size.steady_s, "requests/s", RATE * 0.95, at_least=True)
    yield Figure("page at 50/s: failed", len(faults), "requests", 0)
    yield Figure("page at 50/s: p50", statistics.median(taken) * 1000, "ms")
    yield Figure("page at 50/s: p99", statistics.quantiles(taken, n=100)[98] * 1000, "ms")
    yield Figure("page at 50/s: PostgreSQL connections, at most", max(counts), "connections")
    yield Figure("page at 50/s: PostgreSQL connections, growth", statistics.median(counts[-3:]) - early, "connections", 0)


def measure(size: Size) -> Iterator[Figure]:
    """Every figure, as it is known."""
    with Deployment() as deployment:
        yield Figure("start to serving", deployment.started_s, "s", 30)
        headers, page = deployment.sign_in(), deployment.floor()
        alive = latency(deployment, "/healthz", {}, size)
        signed_in = latency(deployment, page, headers, size)
        yield Figure("keep-alive GET /healthz p50", alive, "ms", 10)
        yield Figure("keep-alive GET floor, signed in, p50", signed_in, "ms", 10)
        yield Figure("floor / healthz", signed_in / alive, "ratio")
        yield from steady(deployment, page, headers, size)
        yield Figure("memory of all processes (PSS)", deployment.memory_bytes() / MEBIBYTE, "MiB", 1536)
        yield from appends(deployment, size)


def appends(deployment: Deployment, size: Size) -> Iterator[Figure]:
    """Appends to the journal as services do them, by the runtime role."""
    settings = deployment.settings()
    seconds = max(0.5, min(5.0, size.steady_s / 12))
    one = median_of(size.rounds, lambda: rate(settings, writers=1, seconds=seconds))
    eight = median_of(size.rounds, lambda: rate(settings, writers=8, seconds=seconds))
    yield Figure("journal appends, 1 writer", one, "events/s")
    yield Figure("journal appends, 8 writers", eight, "events/s", 200, at_least=True)
    yield Figure("8 writers / 1 writer", eight / one, "ratio")


def main(arguments: list[str] | None = None) -> int:
    """Print every figure; 1 when a goal fails, except in a smoke run, where only running matters."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.base", description=__doc__)
    parser.add_argument("--smoke", action="store_true", help="seconds instead of minutes; goals are not asked for")
    options: Any = parser.parse_args(arguments)
    failed = []
    for figure in measure(SMOKE if options.smoke else FULL):
        sys.stdout.write(figure.line() + "\n")
        sys.stdout.flush()
        if figure.holds is False:
            failed.append(figure.name)
    return 1 if failed and not options.smoke else 0


if __name__ == "__main__":
    sys.exit(main())
