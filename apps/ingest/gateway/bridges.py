"""The bridges connected to this process: one socket each, closed when its credential no longer holds."""

import asyncio
import logging
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from apps.accounts.selectors import machines_holding
from apps.accounts.types import VerifiedMachine
from apps.ingest.gateway.database import ask
from apps.kernel.errors import Unavailable

CHECK_EVERY_S = 0.4
SIGNED_OUT, REPLACED = 4401, 4409
_log = logging.getLogger(__name__)


@dataclass(eq=False)
class Connection:
    """One open socket of a machine. `ending` is the close code, once somebody decided that it ends."""

    machine: VerifiedMachine
    bridge: str = ""
    ending: asyncio.Future[tuple[int, str]] = field(default_factory=lambda: asyncio.get_running_loop().create_future())

    def end(self, code: int, reason: str) -> None:
        """Take nothing more from this socket and close it."""
        if not self.ending.done():
            self.ending.set_result((code, reason))


class Bridges:
    """Connections of this process, by bridge; those that have not said hello yet are watched too."""

    def __init__(self) -> None:
        self.connections: set[Connection] = set()
        self._named: dict[tuple[UUID, str], Connection] = {}
        self._watch = asyncio.create_task(self._watch_forever())
        self._failing = False

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

    async def _watch_forever(self) -> None:
        while True:
            await asyncio.sleep(CHECK_EVERY_S)
            asked = list(self.connections)
            if not asked:
                continue
            try:
                holding = await ask(machines_holding, [one.machine.credential_id for one in asked])
            except Unavailable:  # open sockets work on without the database; nobody can have been revoked meanwhile
                if not self._failing:
                    _log.warning("credentials of open sockets cannot be checked now")
                self._failing = True
                continue
            except Exception:  # noqa: BLE001 - the watch over open sockets goes on, whatever one check met
                _log.exception("the check of open sockets failed")
                continue
            self._failing = False
            for connection in asked:
                if connection.machine.credential_id not in holding:
                    connection.end(SIGNED_OUT, "the credential no longer holds")


_bridges: dict[Any, Bridges] = {}


def bridges() -> Bridges:
    """The connections of this process, made at the first one."""
    loop = asyncio.get_running_loop()
    if loop not in _bridges:
        _bridges.clear()
        _bridges[loop] = Bridges()
    return _bridges[loop]
