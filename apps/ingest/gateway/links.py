"""The calling ends of links: one to each other gateway, over which its subjects are watched and Stops reach its bridges.

Every gateway calls every other, so each pair has two links, one for the pages of either. Nothing of it needs Valkey or a
database. A subject is shown by a link only as long as no bridge here speaks for it.
"""

import asyncio
import logging
import random
from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any
from uuid import UUID

import msgspec
from django.conf import settings
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import WebSocketException

from apps.ingest.gateway.live import wall_ms
from apps.ingest.gateway.mirror import Mirror
from apps.ingest.gateway.spool import Pressed
from apps.ingest.types import Ping, RelayRing, RelayStop, WantedPicture, WatchAll, WatchedSite

if TYPE_CHECKING:
    from apps.ingest.gateway.running import Gateway

OPEN_WITHIN_S = 3.0
FIRST_WAIT_S, LONGEST_WAIT_S = 0.3, 5.0
PING_EVERY_S, SILENT_AFTER_S = 2.0, 6.0
MOST_BYTES = 4 * 2**20  # of one frame: all subjects of a large site
_ENCODER = msgspec.json.Encoder()
_log = logging.getLogger(__name__)


class Link:
    """The link to one other gateway."""

    def __init__(self, gateway: "Gateway", address: str) -> None:
        self._gateway, self.address = gateway, address.rstrip("/") + "/link"
        self._socket: ClientConnection | None = None
        self._wished: bytes = b""

    @property
    def is_open(self) -> bool:
        """Whether something can be sent now."""
        return self._socket is not None

    async def run(self) -> None:
        """Call again and again, at growing distance."""
        wait_s, told = FIRST_WAIT_S, False
        while True:
            mirror = Mirror(self._gateway, self)
            try:
                bearer = {"Authorization": f"Bearer {settings.LINK_SECRET}"}
                options: Any = {"open_timeout": OPEN_WITHIN_S, "close_timeout": 1.0, "max_size": MOST_BYTES, "proxy": None}
                async with connect(self.address, additional_headers=bearer, compression=None, **options) as socket:
                    self._socket, self._wished, wait_s, told = socket, b"", FIRST_WAIT_S, False
                    _log.info("link open")
                    await self._converse(socket, mirror)
            except (OSError, WebSocketException, TimeoutError, msgspec.MsgspecError) as error:
                if not told:
                    _log.warning("no link to another gateway: %s", type(error).__name__)
                told = True
            finally:
                self._socket = None
                mirror.end()
                self._gateway.links.lost(self)
            await asyncio.sleep(wait_s * random.uniform(0.5, 1.5))  # noqa: S311 - only spreads calls
            wait_s = min(LONGEST_WAIT_S, wait_s * 2)

    def say(self, frame: msgspec.Struct) -> bool:
        """Send soon; False when there is no link now."""
        socket = self._socket
        if socket is None:
            return False
        self._gateway.spawn(self._send(socket, _ENCODER.encode(frame).decode()))
        return True

    def wish(self, wanted: WatchAll) -> None:
        """Ask for what our pages show now, where that is something else than before."""
        encoded = _ENCODER.encode(wanted)
        if encoded != self._wished and self.say(wanted):
            self._wished = encoded

    async def _converse(self, socket: ClientConnection, mirror: Mirror) -> None:
        self._gateway.links.wish()
        pinging = asyncio.create_task(self._ping(socket))
        try:
            while True:
                async with asyncio.timeout(SILENT_AFTER_S):
                    mirror.take(await socket.recv())
        finally:
            pinging.cancel()

    async def _ping(self, socket: ClientConnection) -> None:
        while True:
            await self._send(socket, _ENCODER.encode(Ping(t=wall_ms())).decode())
            await asyncio.sleep(PING_EVERY_S)

    @staticmethod
    async def _send(socket: ClientConnection, text: str) -> None:
        with suppress(OSError, WebSocketException):  # the reading side sees that it is gone, and calls again
            await socket.send(text)


class Links:
    """All links of this process."""

    def __init__(self, gateway: "Gateway") -> None:
        self._gateway = gateway
        self._links = [Link(gateway, address) for address in settings.GATEWAY_LINKS]
        self._asked: dict[UUID, tuple[set[Link], set[UUID], asyncio.Event]] = {}

    def begin(self) -> None:
        """Call every other gateway."""
        for link in self._links:
            self._gateway.spawn(link.run())

    def wish(self) -> None:
        """Ask every other gateway for what our pages show now."""
        if any(link.is_open for link in self._links):
            wanted = self._wanted()
            for link in self._links:
                link.wish(wanted)

    def relay(self, pressed: Pressed) -> None:
        """Pass a Stop on to every other gateway: none is asked first where a robot is."""
        frame = RelayStop(stop=pressed.stop, site=pressed.site, subjects=pressed.subjects, by=pressed.name)
        asked = {link for link in self._links if link.say(frame)}
        if asked:
            self._asked[pressed.stop] = (asked, set(), asyncio.Event())

    def relay_ring(self, source: object, subject_id: UUID, seconds: float) -> bool:
        """Ask the gateway that shows a subject for its last seconds."""
        return isinstance(source, Link) and source.say(RelayRing(subject=subject_id, seconds=seconds))

    async def answers(self, stop: UUID, within_s: float) -> set[UUID]:
        """Subjects to which other gateways sent a Stop, as far as they answer in time."""
        if stop not in self._asked:
            return set()
        waiting, sent, all_answered = self._asked[stop]
        with suppress(TimeoutError):
            async with asyncio.timeout(within_s):
                while waiting:
                    await all_answered.wait()
                    all_answered.clear()
        self._asked.pop(stop, None)
        return sent

    def answered(self, link: Link, frame: Mapping[str, Any]) -> None:
        """Another gateway says to whom it sent a Stop of ours."""
        found = self._asked.get(UUID(frame["stop"]))
        if found is not None:
            found[0].discard(link)
            found[1].update(UUID(one) for one in frame["sent"])
            found[2].set()

    def lost(self, link: Link) -> None:
        """It answers nothing any more."""
        for waiting, _, event in self._asked.values():
            waiting.discard(link)
            event.set()

    def _wanted(self) -> WatchAll:
        """What all our pages together show, at the highest rate that one of them wants."""
        floors: dict[UUID, bool] = {}
        subjects: dict[UUID, set[UUID]] = {}
        pictures: dict[UUID, dict[tuple[UUID, str], float]] = {}
        for viewer in self._gateway.viewers.all:
            if viewer.is_link:
                continue
            for site_id, watched in viewer.watched.items():
                floors[site_id] = floors.get(site_id, False) or watched.floor
                subjects.setdefault(site_id, set()).update(watched.rows)
                rates = pictures.setdefault(site_id, {})
                for subject_id, cameras in watched.cameras.items():
                    for camera in cameras:
                        key = (subject_id, camera.name)
                        rates[key] = max(rates.get(key, 0.0), 1 / camera.every_s)
        return WatchAll(
            sites=[
                WatchedSite(
                    site=site_id,
                    floor=floors[site_id],
                    subjects=sorted(subjects[site_id]),
                    pictures=[
                        WantedPicture(subject=subject_id, camera=name, fps=rate)
                        for (subject_id, name), rate in sorted(pictures[site_id].items())
                    ],
                )
                for site_id in sorted(floors)
            ]
        )
