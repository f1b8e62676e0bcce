"""The bridges connected to this process: one socket each."""

import asyncio
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from uuid import UUID

from apps.accounts.types import VerifiedMachine
from apps.fleet.types import Claim
from apps.ingest.gateway.asgi import Send
from apps.ingest.gateway.live import Subject
from apps.kernel import clock
from workers.protocol import FromGateway, encode

SIGNED_OUT, REPLACED = 4401, 4409


@dataclass(eq=False)
class Connection:
    """One open socket of a machine. `ending` is the close code, once somebody decided that it ends.

    `subjects` stand in the order of the hello, None where the bridge was refused one.
    """

    machine: VerifiedMachine
    send: Send
    bridge: str = ""
    boot: UUID | None = None
    claim: Claim | None = None
    subjects: Sequence[Subject | None] = ()
    heard: float = field(default_factory=clock.monotonic)
    ending: asyncio.Future[tuple[int, str]] = field(default_factory=lambda: asyncio.get_running_loop().create_future())

    def end(self, code: int, reason: str) -> None:
        """Take nothing more from this socket and close it."""
        if not self.ending.done():
            self.ending.set_result((code, reason))

    async def say(self, message: FromGateway) -> None:
        """Send one message. Raises an OSError where the peer is gone or does not read."""
        if not self.ending.done():
            await self.send({"type": "websocket.send", "text": encode(message)})

    async def say_if_there(self, message: FromGateway) -> None:
        """Send one message; where the peer is gone, whoever comes next is told anew."""
        with suppress(OSError):
            await self.say(message)


class Bridges:
    """Connections of this process, by bridge; those that have not said hello yet are watched too."""

    def __init__(self) -> None:
        self.connections: set[Connection] = set()
        self._named: dict[tuple[UUID, str], Connection] = {}

    def opened(self, connection: Connection) -> None:
        """Watch this credential from now on."""
        self.connections.add(connection)

    def named(self, connection: Connection, bridge: str) -> None:
        """The socket speaks for this bridge: the newest wins, for an older one may be half dead without knowing."""
        connection.bridge = bridge
        key = (connection.machine.site_id, bridge)
        older = self._named.get(key)
        if older is not None and older is not connection:
            older.end(REPLACED, "a newer connection of this bridge")
        self._named[key] = connection

    def closed(self, connection: Connection) -> None:
        """The socket is gone."""
        self.connections.discard(connection)
        key = (connection.machine.site_id, connection.bridge)
        if self._named.get(key) is connection:
            del self._named[key]

    def claimed(self) -> Iterable[Connection]:
        """Those that speak for somebody now."""
        return [one for one in self.connections if one.claim is not None and not one.ending.done()]
