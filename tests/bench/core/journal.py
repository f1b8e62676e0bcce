"""The journal: writing with sealing and tail running, verifying a million events, and the cost of one as it grows to ten."""

import json
import time
from collections.abc import Iterator
from typing import Any

from tests.bench.base import Figure
from tests.bench.core import Bench
from tests.bench.core.journal_ground import Ground

WRITERS = 8
_LAG = "SELECT extract(epoch FROM clock_timestamp() - caught_up_at) FROM journal_tail_state"
_WAYS = {"fast": "one a transaction, one statement", "ordinary": "one a transaction, ORM", "batch": "ten a transaction"}
_WRITERS = "tests.bench.core.journal_writers"
_SEED = "tests.bench.core.journal_seed"


def measure(bench: Bench) -> Iterator[Figure]:
    """Every figure of the journal, on engines of its own."""
    bench.leave()
    with Ground() as ground:
        seconds = bench.pick(20, 1)
        ways = (("fast", 1500.0), ("ordinary", None), ("batch", 5000.0))
        for way, goal in ways[:1] if bench.is_smoke else ways:
            yield from _written(ground, way, seconds, goal, writers=int(bench.pick(WRITERS, 2)))
        million = int(bench.pick(1_000_000, 4_000))
        yield from _seeded(ground, million, parts=2, named="1 M" if million == 1_000_000 else f"{million}")
        yield from _verified(ground)
        if not bench.is_smoke:
            small = yield from _cost(ground, seconds, "1 M")
            yield from _seeded(ground, 9_000_000, parts=2, named="10 M")
            large = yield from _cost(ground, seconds, "10 M")
            yield Figure("journal: cost of an event at 10 M / at 1 M", large / small, "ratio", 1.25)


def _written(ground: Ground, way: str, seconds: float, goal: float | None, *, writers: int) -> Iterator[Figure]:
    """Several writers at once, each on a stream of its own."""
    rate, used, p99, lag = _write(ground, way, seconds, writers)
    named = {"fast": "one a transaction, one statement", "ordinary": "one a transaction, ORM", "batch": "ten a transaction"}[
        way
    ]
    yield Figure(f"journal: {writers} writers, {named}", rate, "events/s", goal, at_least=True)
    yield Figure(f"journal: {named}, slowest p99 of a writer", p99, "ms")
    yield Figure(f"journal: {named}, tail lag at most", lag, "s", 2.0)
    for part, cpu in used.items():
        yield Figure(f"journal: {named}, CPU of {part}", cpu / seconds, "cores")


def _write(ground: Ground, way: str, seconds: float, writers: int = WRITERS) -> tuple[float, dict[str, float], float, float]:
    """Events a second, processor seconds by part, the worst p99 of a writer in ms, the largest lag seen in s."""
    running = [ground.start(_WRITERS, {"seconds": seconds, "number": number, "way": way}) for number in range(writers)]
    for process in running:
        if process.stdout is None or process.stdout.readline() != "ready\n":
            raise RuntimeError("a writer did not start")
    lag = 0.0
    with ground.used(running) as used:
        ends = time.monotonic() + seconds
        for process in running:
            process.stdin.write("go\n")  # type: ignore[union-attr]
            process.stdin.flush()  # type: ignore[union-attr]
        while time.monotonic() < ends:
            time.sleep(0.5)
            lag = max(lag, float(ground.ask(_LAG)))
    answers: list[dict[str, Any]] = []
    for process in running:
        text, _ = process.communicate(timeout=120)
        if process.returncode:
            raise RuntimeError("a writer failed")
        answers.append(json.loads(text))
    return sum(one["events"] for one in answers) / seconds, used, max(one["p99_ms"] for one in answers), lag


def _seeded(ground: Ground, events: int, *, parts: int, named: str) -> Iterator[Figure]:
    """Events by COPY, then the tail's own work on them."""
    begun = time.monotonic()
    base = int(time.time()) % 1_000_000 * 10
    running = [ground.start(_SEED, {"events": events // parts, "part": base + part}) for part in range(parts)]
    for process in running:
        process.communicate(timeout=3600)
        if process.returncode:
            raise RuntimeError("seeding failed")
    yield Figure(f"journal: filling to {named} by COPY", time.monotonic() - begun, "s")
    ground.caught_up(int(ground.ask("SELECT count(*) FROM journal_event")), within_s=1800)
    yield Figure(f"journal: filled, numbered and sealed to {named}", time.monotonic() - begun, "s")


def _verified(ground: Ground) -> Iterator[Figure]:
    code, text, taken = ground.manage("journal", "verify", "--json")
    found = json.loads(text)
    yield Figure("journal: events verified", found["events"], "events")
    yield Figure("journal: faults found", len(found["faults"]) + code, "faults", 0)
    yield Figure("journal: everything verified, start of the command included", taken, "s")
    yield Figure("journal: a million verified, at that rate", taken * min(1.0, 1e6 / found["events"]), "s", 30)
    yield Figure("journal: verified a second", found["events"] / taken, "events/s")


def _cost(ground: Ground, seconds: float, named: str) -> Any:
    """Processor time of database and writers for one event, which load from elsewhere changes least."""
    rate, used, _, _ = _write(ground, "fast", seconds)
    cost = (used["database"] + used["writers"]) / (rate * seconds) * 1e6
    yield Figure(f"journal: an event at {named}, processor time", cost, "us")
    yield Figure(f"journal: writing at {named}", rate, "events/s")
    return cost
