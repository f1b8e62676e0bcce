"""Twenty minutes of steady load: `python -m tests.bench.soak [--minutes N] [--smoke]`. Non-zero when something grows.

Pages, API calls, sockets that follow the journal and sockets that come and go, and one fact a second. Each half minute the
size of every process, its file handles and threads and the PostgreSQL connections are noted; at the end the slope of each
over the last three quarters of the run is held against a bound.
"""

import argparse
import asyncio
import json
import statistics
import sys
import time
from collections.abc import Callable, Coroutine
from typing import Any

import httpx
import psutil
import websockets

from tests.bench.appends import facts
from tests.bench.deployment import Deployment

FOLLOWERS = 20
PAGES_PER_S, CALLS_PER_S, COMINGS_PER_S = 10.0, 5.0, 5.0
# Growth per minute that a run must stay under, in the sum of all processes.
BOUNDS = {"memory, MiB": 3.0, "file handles": 1.0, "threads": 0.5, "PostgreSQL connections": 0.2}
MEBIBYTE = 2**20


class Soak:
    """The load of one run and what it saw."""

    def __init__(self, deployment: Deployment) -> None:
        self.deployment = deployment
        self.headers = deployment.sign_in("auditor")
        self.done = {"pages": 0, "calls": 0, "followed": 0, "came": 0, "facts": 0}
        self.faults: list[str] = []
        self.samples: list[tuple[float, dict[str, float]]] = []

    async def run(self, seconds: float, every_s: float) -> None:
        """Load for some time, noting figures as it goes."""
        ends = time.monotonic() + seconds
        async with httpx.AsyncClient(base_url=self.deployment.url, timeout=20) as client:
            floor = self.deployment.floor("auditor")
            journal = floor.replace("/floor/", "/journal/")
            load = [
                self._steadily(PAGES_PER_S, ends, "pages", lambda: self._get(client, floor, journal)),
                self._steadily(CALLS_PER_S, ends, "calls", lambda: self._get(client, "/api/v1/me/", "/readyz")),
                self._steadily(COMINGS_PER_S, ends, "came", self._come_and_go),
                *(self._follow(ends) for _ in range(FOLLOWERS)),
                self._note(ends, every_s),
                self._append(ends),
            ]
            await asyncio.gather(*load)

    async def _steadily(self, rate: float, ends: float, name: str, act: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """Do something at a steady rate, ten at once at most."""
        places, tasks = asyncio.Semaphore(10), set()

        async def once() -> None:
            async with places:
                try:
                    await act()
                    self.done[name] += 1
                except (OSError, httpx.HTTPError, RuntimeError, websockets.WebSocketException) as error:
                    self.faults.append(f"{name}: {type(error).__name__} {error}")

        while time.monotonic() < ends:
            task = asyncio.create_task(once())
            tasks.add(task)
            task.add_done_callback(tasks.discard)
            await asyncio.sleep(1 / rate)
        await asyncio.gather(*tasks)

    async def _get(self, client: httpx.AsyncClient, *paths: str) -> None:
        path = paths[int(time.monotonic() * 10) % len(paths)]
        answer = await client.get(path, headers=self.headers)
        if answer.status_code != 200:
            raise RuntimeError(f"{path} {answer.status_code}")

    def _socket(self) -> Any:
        address = self.deployment.url.replace("http", "ws", 1) + "/ws/"
        cookie = {"Cookie": self.headers["Cookie"]}
        return websockets.connect(address, origin=self.deployment.url, additional_headers=cookie, open_timeout=20)

    async def _come_and_go(self) -> None:
        async with self._socket() as opened:
            await opened.send(json.dumps({"op": "ping", "t": 1}))
            await asyncio.wait_for(opened.recv(), timeout=20)

    async def _follow(self, ends: float) -> None:
        """One page that stays open."""
        try:
            async with self._socket() as opened:
                while time.monotonic() < ends:
                    await asyncio.wait_for(opened.recv(), timeout=30)
                    self.done["followed"] += 1
        except (OSError, TimeoutError, websockets.WebSocketException) as error:
            self.faults.append(f"follower: {type(error).__name__} {error}")

    async def _append(self, ends: float) -> None:
        self.done["facts"] = await asyncio.to_thread(facts, self.deployment.settings(), ends - time.monotonic(), 1.0)

    async def _note(self, ends: float, every_s: float) -> None:
        while time.monotonic() < ends:
            self.samples.append((time.monotonic(), await asyncio.to_thread(self._figures)))
            await asyncio.sleep(every_s)

    def _figures(self) -> dict[str, float]:
        found = dict.fromkeys(BOUNDS, 0.0)
        for process in self.deployment.processes():
            try:
                with process.oneshot():
                    found["file handles"] += process.num_fds()
                    found["threads"] += process.num_threads()
            except psutil.Error:
                continue
        found["memory, MiB"] = self.deployment.memory_bytes() / MEBIBYTE
        found["PostgreSQL connections"] = self.deployment.database_connections()
        return found


def slope_per_minute(samples: list[tuple[float, dict[str, float]]], name: str) -> float:
    """Least-squares slope of one figure over the last three quarters of a run, which leaves out its warming up."""
    kept = samples[len(samples) // 4 :]
    if len(kept) < 3:
        return 0.0
    return statistics.linear_regression([at / 60 for at, _ in kept], [figures[name] for _, figures in kept]).slope


def main(arguments: list[str] | None = None) -> int:
    """Run, then print each figure with its slope; 1 when one grows or answers failed."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.soak", description=__doc__)
    parser.add_argument("--minutes", type=float, default=20.0)
    parser.add_argument("--smoke", action="store_true", help="twenty seconds; only running matters")
    options = parser.parse_args(arguments)
    seconds, every_s = (20.0, 2.0) if options.smoke else (options.minutes * 60, 30.0)
    failed = False
    with Deployment() as deployment:
        soak = Soak(deployment)
        asyncio.run(soak.run(seconds, every_s))
        for name, bound in BOUNDS.items():
            slope = slope_per_minute(soak.samples, name)
            first, last = soak.samples[0][1][name], soak.samples[-1][1][name]
            line = {
                "name": name,
                "first": round(first, 1),
                "last": round(last, 1),
                "value": round(slope, 3),
                "unit": "per minute",
            }
            sys.stdout.write(json.dumps(line | {"goal": bound, "holds": slope <= bound}) + "\n")
            failed |= slope > bound
        for name, count in soak.done.items():
            sys.stdout.write(json.dumps({"name": name, "value": count, "unit": "done"}) + "\n")
            failed |= count == 0
        line = {
            "name": "faults",
            "value": len(soak.faults),
            "unit": "",
            "goal": 0,
            "holds": not soak.faults,
            "first": soak.faults[:5],
        }
        sys.stdout.write(json.dumps(line) + "\n")
        failed |= bool(soak.faults)
    return 1 if failed and not options.smoke else 0


if __name__ == "__main__":
    sys.exit(main())
