"""One gateway under full load, watched by a browser and by pages that check every message.

Everything runs on the machine that is measured: the load, the pages and the browser take their cores from it, and their share
is told beside the gateway's.
"""

import json
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

from tests.bench.base import Figure
from tests.bench.core import Bench
from tests.bench.core.browser import browser
from tests.bench.core.stage import ROOT, Cpu, Stage, family

HERTZ, VIEWERS = 10.0, 4
STORED_WITHIN_S = 15.0  # the longest an open block waits, and its way to the table
_STORED = """
SELECT coalesce(sum(count), 0) FROM telemetry_block JOIN telemetry_layout AS layout ON layout.id = layout_id
WHERE site_id = %s AND boot = ANY(%s::uuid[])
"""


def measure(bench: Bench) -> Iterator[Figure]:
    """Every figure, as it is known."""
    stage, seconds = bench.stage(), bench.pick(60, 4)
    headers = stage.sign_in_as(stage.world["watcher"])
    with ExitStack() as stack:
        load = stack.enter_context(stage.beside("tests.bench.core.load", load_of(stage, HERTZ, seconds)))
        load.heard()
        viewers = stack.enter_context(stage.beside("tests.bench.core.viewers", viewers_of(stage, headers, seconds)))
        viewers.heard()
        opened = stack.enter_context(browser(f"{stage.url}/sites/{stage.world['slug']}/floor/", headers))
        opened.wait(bench.pick(2, 0.5))
        meters = {name: Cpu(processes) for name, processes in stage.parts().items()}
        meters |= {"load": Cpu(family(load.process.pid)), "pages": Cpu(family(viewers.process.pid))}
        memory = stage.gateway().memory_info().rss / 2**20
        for program in (viewers, load):
            program.go()
        begins = bench.pick(3, 1)
        opened.wait(begins)
        opened.watch()
        opened.wait(seconds - begins - 0.5)
        cores = {name: meter.cores() for name, meter in meters.items()}
        shown = opened.found()
        seen, sent = viewers.heard(), load.heard()
        memory = stage.gateway().memory_info().rss / 2**20 - memory
    if bench.is_smoke:
        close_blocks(stage)
    kept = stored(stage, sent)
    rate = len(stage.world["subjects"]) * HERTZ
    yield from _figures(sent, seen, shown, kept, seconds, rate)
    for name, used in cores.items():
        yield Figure(f"gateway: CPU of {name}", used, "cores")
    yield Figure("gateway: memory it took under load", memory, "MiB")


def load_of(stage: Stage, hertz: float, seconds: float) -> dict[str, Any]:
    """What the load is told."""
    return {"url": stage.gateway_url, "bridges": stage.world["bridges"], "hertz": hertz, "seconds": seconds}


def viewers_of(stage: Stage, headers: dict[str, str], seconds: float) -> dict[str, Any]:
    """What the pages are told."""
    given = {"url": stage.gateway_url, "origin": stage.url, "cookie": headers["Cookie"], "seconds": seconds}
    return given | {"site": stage.world["site"], "subjects": stage.world["subjects"], "viewers": VIEWERS}


def close_blocks(stage: Stage) -> None:
    """Have what is open stored at once: a bridge that begins anew begins another block."""
    with stage.beside("tests.bench.core.load", load_of(stage, HERTZ, 0.3)) as load:
        load.heard()
        load.go()
        load.heard()


def stored(stage: Stage, load: dict[str, Any]) -> dict[str, Any]:
    """What is in the database after a load, compared with what was sent. Waits as long as an open block may."""
    ends = time.monotonic() + STORED_WITHIN_S
    while time.monotonic() < ends and stage.ask(_STORED, stage.world["site"], list(load["boots"].values())) < load["states"]:
        time.sleep(0.5)
    done = subprocess.run(
        [sys.executable, "-m", "tests.bench.core.stored"],
        cwd=ROOT,
        env=stage.environment(),
        input=json.dumps({"world": stage.world, "load": load}) + "\n",
        stdout=subprocess.PIPE,
        text=True,
        timeout=300,
        check=True,
    )
    return dict(json.loads(done.stdout))


def _figures(
    sent: dict[str, Any], seen: dict[str, Any], shown: dict[str, Any], kept: dict[str, Any], seconds: float, rate: float
) -> Iterator[Figure]:
    yield Figure("gateway: states sent", sent["states"] / seconds, "states/s", rate * 0.99, at_least=True)
    yield Figure("gateway: frames sent late", sent["late_frames"], "frames")
    yield Figure("gateway: connections lost", len(sent["lost"]), "connections", 0)
    yield Figure("gateway: states refused", len(sent["rejected"]), "states", 0)
    yield Figure("gateway: states stored", kept["states"], "states", sent["states"], at_least=True)
    yield Figure("gateway: states read back and compared", kept["compared"], "states")
    yield Figure("gateway: differences in them", len(kept["faults"]), "faults", 0)
    yield Figure("gateway: durable messages lost or doubled", abs(sent["facts"] - kept["facts"]), "facts", 0)
    yield Figure("gateway: durable messages taken", sent["facts_taken"], "facts", sent["facts"], at_least=True)
    yield Figure("gateway: rows checked by pages", seen["rows"], "rows")
    yield Figure("gateway: faults in them", len(seen["faults"]), "faults", 0)
    yield Figure("gateway: frames a page got", seen["frames"] / VIEWERS / seconds, "frames/s")
    yield Figure("gateway: text a page got", seen["bytes"] / VIEWERS / seconds / 1000, "kB/s")
    yield Figure("gateway: age of what pages show, p50", percentile(seen["shown_ages"], 50), "ms")
    yield Figure("gateway: age of what pages show, p95", percentile(seen["shown_ages"], 95), "ms", 500)
    yield Figure("gateway: age of a row when it comes, p95", percentile(seen["arrival_ages"], 95), "ms")
    yield Figure("gateway: age of what the browser holds, p50", percentile(shown["ages"], 50), "ms")
    yield Figure("gateway: age of what the browser holds, p95", percentile(shown["ages"], 95), "ms", 500)
    yield Figure("gateway: layout shift in the browser", shown["shift"], "score", 0)
    yield Figure("gateway: faults in the browser", len(shown["faults"]), "faults", 0)
    yield Figure("gateway: bytes of a stored state", kept["data_bytes"] / max(1, kept["states"]), "B")
    yield Figure("gateway: bytes of a stored state with its tables", kept["table_bytes"] / max(1, kept["states"]), "B")
    for fault in (
        *kept["faults"][:3],
        *seen["faults"][:3],
        *sent["rejected"][:3],
        *sent["lost"][:3],
        *shown["faults"][:3],
        *shown["moved"][:3],
    ):
        sys.stderr.write(f"{fault}\n")


def percentile(ordered: list[float], percent: int) -> float:
    """A percentile; not a number where nothing was measured, which meets no goal."""
    if len(ordered) < 2:
        return float("nan")
    return statistics.quantiles(ordered, n=100)[percent - 1]
