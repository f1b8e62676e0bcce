"""Hears through the channel layer that a stream has grown. Only a hint: the hub looks for itself."""

import asyncio
import logging
from collections.abc import Callable
from uuid import uuid4

from channels.layers import get_channel_layer
from redis.exceptions import RedisError

from apps.realtime.topics import group_of

DEADLINE_S = 2.0
REST_S = 1.0
RENEW_S = 10.0
_log = logging.getLogger(__name__)


class Hints:
    """This process's one channel, member of the group of each followed stream."""

    def __init__(self, heard: Callable[[], None]) -> None:
        self._heard = heard
        self._channel = f"hub.{uuid4().hex}"
        self._wanted: set[str] = set()
        self._joined: set[str] = set()
        self._changed = asyncio.Event()
        self._failing = False

    def follow(self, sources: set[str]) -> None:
        """Be told of these streams and no others."""
        if sources != self._wanted:
            self._wanted = set(sources)
            self._changed.set()

    async def listen(self) -> None:
        """Receive for ever; when Valkey is away, try again."""
        while True:
            layer = get_channel_layer()
            try:
                while layer is not None:
                    await layer.receive(self._channel)
                    self._heard()
            except Exception as error:  # noqa: BLE001 - whatever comes over the wire, listening goes on
                self._note(error)
            await asyncio.sleep(REST_S)

    async def keep_groups(self) -> None:
        """Join and leave groups as topics come and go, and join all anew at times, for Valkey may have lost them."""
        while True:
            try:
                async with asyncio.timeout(RENEW_S):
                    await self._changed.wait()
            except TimeoutError:
                self._joined.clear()
            self._changed.clear()
            try:
                async with asyncio.timeout(DEADLINE_S):
                    await self._match()
                self._failing = False
            except (TimeoutError, OSError, RedisError) as error:
                self._note(error)
                await asyncio.sleep(REST_S)
                self._changed.set()

    async def _match(self) -> None:
        layer = get_channel_layer()
        if layer is None:
            return
        for source in self._wanted - self._joined:
            await layer.group_add(group_of(source), self._channel)
            self._joined.add(source)
        for source in self._joined - self._wanted:
            await layer.group_discard(group_of(source), self._channel)
            self._joined.discard(source)

    def _note(self, error: Exception) -> None:
        if not self._failing:
            _log.warning("no hints from Valkey, pages are kept up to date by polling: %s", type(error).__name__)
        self._failing = True
