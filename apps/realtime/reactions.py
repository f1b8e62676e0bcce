"""Tells every web process that a stream has grown.

Only (stream, sequence) travels, and only as a hint: what is lost is found by the poll of each process within a second.
So nothing here may slow or fail the act that appended: a thread of its own does the sending, with a deadline, and keeps
no more than the newest position of a bounded number of streams.
"""

import asyncio
import logging
import os
import threading

from channels.layers import get_channel_layer
from redis.exceptions import RedisError

from apps.realtime.topics import group_of

MOST_STREAMS = 1000
SEND_DEADLINE_S = 1.0
REST_AFTER_FAILURE_S = 1.0
GATHER_S = 0.05  # what grows meanwhile goes together: the first hint is sent at once, a busy stream's at most twenty a second
_log = logging.getLogger(__name__)


class Notifier:
    """Sends hints from one thread, started by the first one."""

    def __init__(self) -> None:
        self._pending: dict[str, int] = {}
        self._lock = threading.Condition()
        self._process = 0
        self._failing = False

    def wake(self, stream: str, sequence: int) -> None:
        """Hint that `stream` is at `sequence`. Never blocks, never raises; dropped when too many streams wait."""
        with self._lock:
            if stream in self._pending or len(self._pending) < MOST_STREAMS:
                self._pending[stream] = max(sequence, self._pending.get(stream, 0))
            if self._process != os.getpid():  # first use, or a fork that left the thread behind
                self._process = os.getpid()
                threading.Thread(target=self._run, name="realtime-notifier", daemon=True).start()
            self._lock.notify()

    def _run(self) -> None:
        asyncio.run(self._send_forever())

    async def _send_forever(self) -> None:
        while True:
            try:
                await self._send(self._take())
                self._failing = False
                await asyncio.sleep(GATHER_S)
            except (TimeoutError, OSError, RedisError) as error:
                if not self._failing:
                    _log.warning("hints to pages are not sent, pages poll meanwhile: %s", type(error).__name__)
                self._failing = True
                await asyncio.sleep(REST_AFTER_FAILURE_S)

    def _take(self) -> dict[str, int]:
        with self._lock:
            while not self._pending:
                self._lock.wait()
            taken, self._pending = self._pending, {}
            return taken

    async def _send(self, hints: dict[str, int]) -> None:
        layer = get_channel_layer()
        if layer is None:
            return
        async with asyncio.timeout(SEND_DEADLINE_S):
            for stream, sequence in hints.items():
                await layer.group_send(group_of(stream), {"type": "grown", "stream": stream, "sequence": sequence})


_NOTIFIER = Notifier()


def stream_grown(stream: str, sequence: int) -> None:
    """The journal's listener, called after each commit."""
    _NOTIFIER.wake(stream, sequence)
