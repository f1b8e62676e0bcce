"""The other end of a bridge's socket, scripted: for what a real gateway does only on a bad day."""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from uuid import uuid4

from websockets.asyncio.server import ServerConnection, serve
from websockets.exceptions import ConnectionClosed

from workers.protocol import (
    Ack,
    Facts,
    FactsTaken,
    FromBridge,
    FromGateway,
    Heartbeat,
    Hello,
    Resume,
    Welcome,
    decode_from_bridge,
    encode,
)


class Gateway:
    """Welcomes, acknowledges beats and takes facts, unless told otherwise. Keeps all it heard, by connection."""

    def __init__(self) -> None:
        self.heard: list[list[FromBridge]] = []
        self.headers: list[dict[str, str]] = []
        self.at: list[float] = []
        self.sockets: list[ServerConnection] = []
        self.taken: dict = {}
        self.takes = self.acks = self.answers = True
        self.heartbeat_s, self.ahead_ms = 5.0, 0.0
        self.refuses: Callable[[Hello], FromGateway | None] = lambda hello: None
        self.accepts: Callable[[Hello], list[str]] = lambda hello: hello.subjects
        self.on_welcome: Callable[[ServerConnection], Awaitable[None]] | None = None
        self.url = ""

    def now_ms(self) -> int:
        """The console's clock."""
        return int(time.time() * 1000 + self.ahead_ms)

    def all(self, kind):
        """Everything of one kind, over all connections."""
        return [message for one in self.heard for message in one if isinstance(message, kind)]

    def facts(self):
        """Every fact as it came, with its boot."""
        return [(message.boot, fact) for message in self.all(Facts) for fact in message.facts]

    async def say(self, message: FromGateway) -> None:
        """To the newest connection."""
        await self.sockets[-1].send(encode(message))

    async def until(self, met, within=10.0):
        """Wait until something is so."""
        async with asyncio.timeout(within):
            while not (found := met()):
                await asyncio.sleep(0.01)
        return found

    async def serve(self, socket: ServerConnection) -> None:
        """One connection."""
        heard: list[FromBridge] = []
        self.heard.append(heard)
        self.at.append(time.monotonic())
        self.headers.append(dict(socket.request.headers))
        self.sockets.append(socket)
        try:
            async for frame in socket:
                heard.append(decode_from_bridge(frame))
                await self._answer(socket, heard[-1])
        except ConnectionClosed:
            return

    async def _answer(self, socket: ServerConnection, message: FromBridge) -> None:
        if isinstance(message, Hello) and self.answers:
            refused = self.refuses(message)
            if refused is not None:
                await socket.send(encode(refused))
                await socket.close(4403, "refused")
                return
            resume = [Resume(boot=boot, sequence=sequence) for boot, sequence in self.taken.items()]
            told = {"subjects": self.accepts(message), "resume": resume, "server_time_ms": self.now_ms()}
            await socket.send(encode(Welcome(version=1, heartbeat_s=self.heartbeat_s, **told)))
            if self.on_welcome is not None:
                await self.on_welcome(socket)
        elif isinstance(message, Heartbeat) and self.acks:
            await socket.send(
                encode(Ack(sequence=message.sequence, server_time_ms=self.now_ms(), sent_at_ms=message.sent_at_ms))
            )
        elif isinstance(message, Facts) and self.takes:
            up_to = self.taken.get(message.boot, 0)
            for fact in message.facts:
                up_to = up_to + 1 if fact.sequence == up_to + 1 else up_to
            self.taken[message.boot] = up_to
            await socket.send(encode(FactsTaken(boot=message.boot, sequence=up_to)))


@asynccontextmanager
async def scripted(port: int = 0) -> AsyncIterator[Gateway]:
    """One, listening on loopback."""
    gateway = Gateway()
    async with serve(gateway.serve, "127.0.0.1", port, max_size=2**20) as server:
        gateway.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        yield gateway


def robot() -> str:
    """A subject nobody has."""
    return f"robot:{uuid4()}"
