"""Whether the gateway's memory grows: twenty minutes at a tenth of the rate. `--only memory --minutes 20` runs it alone."""

import statistics
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack

from tests.bench.base import Figure
from tests.bench.core import Bench
from tests.bench.core.gateway import HERTZ, load_of, stored, viewers_of
from tests.bench.core.stage import Cpu

LEFT_OUT = 0.25  # of the time: until the rings are full
LOOK_EVERY_S = 5.0


def measure(bench: Bench) -> Iterator[Figure]:
    """Every figure, as it is known."""
    stage, seconds = bench.stage(), bench.minutes * 60
    headers = stage.sign_in_as(stage.world["watcher"])
    samples: list[tuple[float, float]] = []
    with ExitStack() as stack:
        load = stack.enter_context(stage.beside("tests.bench.core.load", load_of(stage, HERTZ / 10, seconds)))
        load.heard()
        viewers = stack.enter_context(stage.beside("tests.bench.core.viewers", viewers_of(stage, headers, seconds)))
        viewers.heard()
        gateway = stage.gateway()
        meter = Cpu([gateway])
        viewers.go()
        load.go()
        began = time.monotonic()
        while time.monotonic() - began < seconds:
            samples.append((time.monotonic() - began, gateway.memory_info().rss / 2**20))
            time.sleep(min(LOOK_EVERY_S, seconds / 5))
            if load.process.poll() is not None or viewers.process.poll() is not None:
                break  # `heard` tells of it
        cores = meter.cores()
        seen, sent = viewers.heard(), load.heard()
    kept = stored(stage, sent) if not bench.is_smoke else {"faults": [], "facts": sent["facts"]}
    late = [one for one in samples if one[0] >= seconds * LEFT_OUT]
    slope = statistics.linear_regression([at / 60 for at, _ in late], [mebibytes for _, mebibytes in late]).slope
    yield Figure("memory: minutes at a tenth of the rate", bench.minutes, "min")
    yield Figure("memory: states sent", sent["states"] / seconds, "states/s", len(stage.world["subjects"]) * HERTZ / 10.1, True)
    yield Figure("memory: of the gateway, at first", samples[0][1], "MiB")
    yield Figure("memory: of the gateway, at last", samples[-1][1], "MiB")
    yield Figure("memory: slope over the last three quarters", slope, "MiB/min", 1)
    yield Figure("memory: CPU of gateway", cores, "cores")
    yield Figure("memory: connections lost", len(sent["lost"]), "connections", 0)
    yield Figure("memory: differences in what is stored", len(kept["faults"]), "faults", 0)
    yield Figure("memory: durable messages lost or doubled", abs(sent["facts"] - kept["facts"]), "facts", 0)
    yield Figure("memory: faults in what pages got", len(seen["faults"]), "faults", 0)
    for words in (*kept["faults"][:3], *seen["faults"][:3]):
        sys.stderr.write(f"{words}\n")
