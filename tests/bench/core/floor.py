"""The floor page of a thousand subjects, as the server makes it: how long, how many statements, how much to send."""

import gzip
import json
import statistics
from collections.abc import Iterator

from tests.bench.base import Figure
from tests.bench.core import Bench
from tests.bench.core.browser import browser
from tests.bench.core.seed import SLUG, SMALL_SLUG

REQUESTS = 200


def measure(bench: Bench) -> Iterator[Figure]:
    """Every figure, as it is known."""
    stage = bench.stage()
    headers = stage.sign_in_as(stage.world["watcher"])
    path = f"/sites/{SLUG}/floor/"
    with stage.client(**headers) as client:
        client.timed(path, 3)
        taken = client.timed(path, int(bench.pick(REQUESTS, 10)))
        _, page = client.get(path)
    yield Figure("floor: subjects", len(stage.world["subjects"]), "subjects")
    yield Figure("floor: server time p50", statistics.median(taken) * 1000, "ms")
    yield Figure("floor: server time p95", statistics.quantiles(taken, n=20)[18] * 1000, "ms", 150)
    counts = json.loads(stage.run("tests.bench.core.queries", SMALL_SLUG, SLUG))
    yield Figure("floor: statements", counts[SLUG], "statements")
    yield Figure("floor: statements more than with ten subjects", counts[SLUG] - counts[SMALL_SLUG], "statements", 0)
    yield Figure("floor: page, compressed by gzip", len(gzip.compress(page, 6)) / 1000, "kB", 200)
    yield Figure("floor: page, not compressed", len(page) / 1000, "kB")
    with browser(f"{stage.url}{path}", headers) as opened:
        opened.wait(bench.pick(3, 0.5))
        yield Figure("floor: all of a first visit, compressed", opened.transferred() / 1000, "kB", 200)
