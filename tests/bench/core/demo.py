"""The demo as everybody starts it: twelve simulated arms with pictures, one person watching."""

import statistics
import sys
import time
from collections.abc import Iterator
from typing import Any

from tests.bench.base import Figure
from tests.bench.core import Bench
from tests.bench.core.browser import Browser, browser
from tests.bench.core.gateway import percentile
from tests.bench.core.stage import Cpu
from tests.bench.deployment import Deployment

ARMS = 12
POLICY_WITHIN_S = 240.0
_SEEN = """
async () => {
  const { gateway } = await import("pilothouse/gateway-socket");
  return [...gateway.subjects.values()].map((one) => [one.report?.driver ?? "", one.report?.is_moving ?? false, one.link]);
}
"""
_COUNT = """
async () => {
  const { gateway } = await import("pilothouse/gateway-socket");
  window.benchPictures = 0;
  gateway.addEventListener("picture", () => { window.benchPictures += 1; });
}
"""


def measure(bench: Bench) -> Iterator[Figure]:
    """Every figure, as it is known."""
    seconds = bench.pick(60, 3)
    began = time.monotonic()
    with bench.demo() as demo:
        headers = demo.sign_in()
        with browser(f"{demo.url}{demo.floor()}", headers) as opened:
            moving = _until(opened, lambda rows: sum(row[1] for row in rows) >= 1, bench.pick(90, 20))
            yield Figure("demo: start to moving arms", moving - began, "s", 60)
            if not bench.is_smoke:
                learned = _until(opened, lambda rows: any(row[0] == "policy" for row in rows), POLICY_WITHIN_S)
                yield Figure("demo: start to arms moved by the trained policy", learned - began, "s", 120)
                opened.wait(15)
            yield from _steady(demo, opened, seconds)


def _steady(demo: Deployment, opened: Browser, seconds: float) -> Iterator[Figure]:
    """What it costs as it goes on."""
    opened.watch()
    opened.page.evaluate(_COUNT)
    meter, memory = Cpu(demo.processes()), []
    ends = time.monotonic() + seconds
    while time.monotonic() < ends:
        memory.append(demo.memory_bytes() / 2**20)
        opened.wait(min(5.0, max(0.1, ends - time.monotonic())))
    cores, shown = meter.cores(), opened.found()
    pictures = opened.page.evaluate("() => window.benchPictures")
    rows = opened.page.evaluate(_SEEN)
    yield Figure("demo: CPU of all its processes", cores, "cores", 1.2)
    yield Figure("demo: memory of all its processes (PSS)", statistics.median(memory), "MiB", 4096)
    yield Figure("demo: arms that are live", sum(row[2] == "live" for row in rows), "arms", ARMS, at_least=True)
    yield Figure("demo: pictures the browser got", pictures / seconds, "pictures/s")
    yield Figure("demo: age of what the browser holds, p95", percentile(shown["ages"], 95), "ms", 500)
    yield Figure("demo: layout shift in the browser", shown["shift"], "score", 0)
    yield Figure("demo: faults in the browser", len(shown["faults"]), "faults", 0)
    for words in (*shown["moved"][:3], *shown["faults"][:3]):
        sys.stderr.write(f"{words}\n")


def _until(opened: Browser, holds: Any, within_s: float) -> float:
    """When something came to hold, by the monotonic clock; not a number when it did not in time."""
    ends = time.monotonic() + within_s
    while time.monotonic() < ends:
        if holds(opened.page.evaluate(_SEEN)):
            return time.monotonic()
        opened.wait(0.5)
    return float("nan")
