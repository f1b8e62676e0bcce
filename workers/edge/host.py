"""This computer as a subject: its processor, memory and disk. The smallest bridge there is, to begin another one from."""

import shutil
import time
from collections.abc import Sequence
from typing import Any

import psutil

from workers.edge.base import Bridge, Doing, OrderRefused, main
from workers.protocol import Channel, Described, Mode, Order

CHANNELS = [
    Channel(name="processor", unit="%", low=0, high=90, headline=True),
    Channel(name="memory", unit="%", low=0, high=90, headline=True),
    Channel(name="disk", unit="%", low=0, high=90, headline=True),
    Channel(name="load", unit=""),
    Channel(name="received", unit="kB/s"),
    Channel(name="sent", unit="kB/s"),
    Channel(name="processes", unit=""),
    Channel(name="uptime", unit="s"),
]


class Host(Bridge):
    """This computer as a subject of kind `host`: what it measures of itself, once a second."""

    rate_hz = 1.0
    software = "host bridge"

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self._values: list[float | None] = [None] * len(CHANNELS)
        self._paused: set[str] = set()
        self._before = (time.monotonic(), psutil.net_io_counters())

    def describe(self, subject: str) -> Described:
        """One host; nothing simulated about it."""
        return Described(subject=subject, kind="host", channels=CHANNELS)

    def step(self) -> None:
        """Measure."""
        now, network = time.monotonic(), psutil.net_io_counters()
        since, before = now - self._before[0], self._before[1]
        self._before = (now, network)
        disk = shutil.disk_usage("/")
        self._values = [
            psutil.cpu_percent(),
            psutil.virtual_memory().percent,
            round(disk.used / disk.total * 100, 1),
            psutil.getloadavg()[0],
            _kilobytes(network.bytes_recv - before.bytes_recv, since),
            _kilobytes(network.bytes_sent - before.bytes_sent, since),
            float(len(psutil.pids())),
            round(time.time() - psutil.boot_time()),
        ]

    def sample(self, subject: str) -> Sequence[float | None]:
        """In the order of the channels."""
        return self._values

    def report(self, subject: str) -> Doing:
        """A host has no task here: it holds."""
        return Doing(mode=Mode.HOLD, activity="paused" if subject in self._paused else "measuring")

    def stop(self, subject: str) -> None:
        """A computer does not move."""

    def is_moving(self, subject: str) -> bool:
        """Never."""
        return False

    def order(self, order: Order) -> str:
        """`pause` and `resume`: what the word in its report says."""
        if order.name == "pause":
            self._paused.add(order.subject)
        elif order.name == "resume":
            self._paused.discard(order.subject)
        else:
            raise OrderRefused(f"A host knows no order {order.name}.")
        return f"{order.name}d"


def _kilobytes(count: int, seconds: float) -> float | None:
    return round(count / 1000 / seconds, 1) if seconds > 0 else None


if __name__ == "__main__":
    raise SystemExit(main(Host))
