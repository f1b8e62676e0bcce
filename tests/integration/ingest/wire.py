"""A wire that can be cut: a relay of TCP between a gateway and its database."""

import asyncio
import threading
from contextlib import suppress
from urllib.parse import urlsplit

from tests import engines


class Wire:
    """Passes bytes on until it is cut; cut, it refuses whoever comes and drops whoever is there. Runs in its own thread."""

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        self._host, self._port = parts.hostname, parts.port
        self.port = engines.free_port()
        self.url = parts._replace(netloc=parts.netloc.replace(f":{parts.port}", f":{self.port}")).geturl()
        self._loop = asyncio.new_event_loop()
        self._server: asyncio.Server | None = None
        self._open: set[asyncio.StreamWriter] = set()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self.mend()

    def mend(self) -> None:
        """Let bytes through."""
        self._run(self._listen())

    def cut(self) -> None:
        """Let nothing through."""
        self._run(self._drop())

    def stop(self) -> None:
        """Cut it for good."""
        self.cut()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(timeout=5)

    def _run(self, work) -> None:
        asyncio.run_coroutine_threadsafe(work, self._loop).result(timeout=10)

    async def _listen(self) -> None:
        if self._server is None:
            self._server = await asyncio.start_server(self._serve, self.url and "127.0.0.1", self.port)

    async def _drop(self) -> None:
        if self._server is not None:
            self._server.close()
            self._server = None
        for writer in list(self._open):
            writer.transport.abort()
        self._open.clear()

    async def _serve(self, reader, writer) -> None:
        try:
            there_reader, there_writer = await asyncio.open_connection(self._host, self._port)
        except OSError:
            writer.transport.abort()
            return
        self._open |= {writer, there_writer}
        await asyncio.gather(self._pass(reader, there_writer), self._pass(there_reader, writer))
        self._open -= {writer, there_writer}

    @staticmethod
    async def _pass(reader, writer) -> None:
        with suppress(OSError):
            while data := await reader.read(65536):
                writer.write(data)
                await writer.drain()
        writer.close()
