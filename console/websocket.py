"""WebSocket connections that cannot be used to exhaust a serving process.

uvicorn's `websockets` protocol bounds the size of a message and reads no faster than the application. What it leaves
open is closed here: a count of frames (so that pings and empty fragments without end are a flood like any other), a
deadline on every send (a peer that does not read is dropped, not waited for), and an end to every connection.
The older of uvicorn's two `websockets` protocols is meant: the newer one answers pings without regard to a peer that
does not read, so that the answers pile up in memory.
"""

import asyncio
import logging
import socket
import struct
import warnings
from functools import lru_cache
from typing import Any

from uvicorn.config import UvicornDeprecationWarning
from uvicorn.protocols.utils import ClientDisconnected

from apps.kernel.limits import TokenBucket

with warnings.catch_warnings():
    warnings.simplefilter("ignore", UvicornDeprecationWarning)
    warnings.simplefilter("ignore", DeprecationWarning)
    from uvicorn.protocols.websockets.websockets_impl import WebSocketProtocol
    from websockets.frames import Opcode

# uvicorn logs the whole address of every handshake, with whatever secret somebody put into it; our edges log refusals.
_LOG = logging.getLogger("uvicorn.sockets")
_LOG.setLevel(logging.WARNING)
SHARED_BYTES = 1024
TOO_SLOW = 4408
TOO_MANY = 4429


@lru_cache(maxsize=32)
def _encoded(text: str) -> bytes:
    return text.encode()


class BoundedWebSocket(WebSocketProtocol):
    """What both kinds of socket share; the numbers differ."""

    frames_per_second = 50.0
    frames_burst = 200.0
    send_deadline_s = 10.0
    close_deadline_s = 2.0
    send_buffer_bytes = 128 * 1024  # of the kernel: what a peer that never reads may hold of ours, beside our own 64 KiB

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.logger = _LOG
        self.close_timeout = self.close_deadline_s
        self._frames = TokenBucket(self.frames_per_second, self.frames_burst)

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Take a new connection."""
        super().connection_made(transport)
        self.bound_sending(self.send_buffer_bytes)

    def bound_sending(self, most: int) -> None:
        """Bound what the kernel keeps for this peer."""
        opened = self.transport.get_extra_info("socket")
        if opened is not None:
            opened.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, most)

    async def read_frame(self, max_size: int | None) -> Any:
        """Read one frame of any kind and count it."""
        frame = await super().read_frame(max_size)
        if not self._frames.take():
            self.fail_connection(TOO_MANY, "too many frames")
            await asyncio.sleep(0)  # this very task was cancelled by the line above
        return frame

    async def send(self, message: Any) -> None:
        """Send a text to many peers without a copy for each; anything else as the library does."""
        if not isinstance(message, str):
            return await super().send(message)
        await self.ensure_open()
        return await self.write_frame(fin=True, opcode=Opcode.TEXT, data=_encoded(message))

    def write_frame_sync(self, fin: bool, opcode: int, data: Any) -> None:  # noqa: FBT001 - the library's signature
        """Hand head and body to the transport apart, so that what waits for slow peers is one body, not one for each."""
        length = len(data)
        if length < SHARED_BYTES or not fin:
            return super().write_frame_sync(fin, opcode, data)
        size = struct.pack("!BH", 126, length) if length < 2**16 else struct.pack("!BQ", 127, length)
        return self.transport.writelines([bytes([0x80 | opcode]) + size, data])

    async def asgi_send(self, message: Any) -> None:
        """Send, or drop a peer that does not take what it is sent. Raises an OSError once the connection is closed."""
        if self.closed_event.is_set() and self.initial_response is None:
            raise ClientDisconnected
        try:
            async with asyncio.timeout(self.send_deadline_s):
                await super().asgi_send(message)
        except TimeoutError:
            self.logger.warning("socket dropped: nothing was read for %.0f s", self.send_deadline_s)
            self.fail_connection(TOO_SLOW, "too slow")
            self.transport.abort()
            raise ClientDisconnected from None

    async def run_asgi(self) -> None:
        """Run the application; when it is done the connection ends soon, whatever the peer still does not read."""
        try:
            await super().run_asgi()
        finally:
            self.loop.call_later(self.close_deadline_s, self.transport.abort)


class BrowserWebSocket(BoundedWebSocket):
    """A page: a few small frames."""


class MachineWebSocket(BoundedWebSocket):
    """A bridge speaks for many subjects, and its frames are larger. A page at the gateway is held to a page's bounds."""

    largest_of_pages = 128 * 1024
    pages = "/control"

    frames_per_second = 2000.0
    frames_burst = 4000.0
    send_buffer_bytes = 512 * 1024

    async def process_request(self, path: str, request_headers: Any) -> Any:
        """Look at who comes before anything else is read."""
        if path.partition("?")[0] == self.pages:
            self._frames = TokenBucket(BrowserWebSocket.frames_per_second, BrowserWebSocket.frames_burst)
            self.max_size = self.largest_of_pages
            self.bound_sending(BrowserWebSocket.send_buffer_bytes)
        return await super().process_request(path, request_headers)
