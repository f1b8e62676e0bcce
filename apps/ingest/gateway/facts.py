"""Facts of one connection: taken in order, acknowledged after the commit, never held back for ever.

While the database is away the first ones wait here and the rest is let go: nothing of it was acknowledged, so the bridge
keeps it on its disk and sends it again.
"""

import asyncio
import logging
from collections import deque
from datetime import datetime

from apps.fleet.services import take_facts
from apps.ingest.gateway.bridges import REPLACED, SIGNED_OUT, Connection
from apps.ingest.gateway.database import FACTS
from apps.kernel import clock
from apps.kernel.errors import NotSignedIn, Refusal, Unavailable
from workers.protocol import Facts, FactsTaken

MOST_WAITING = 8  # messages of up to fifty facts
FIRST_WAIT_S, LONGEST_WAIT_S = 0.2, 5.0
_log = logging.getLogger(__name__)


class FactsDesk:
    """Takes what one bridge tells, one message after the other."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._waiting: deque[tuple[Facts, datetime]] = deque()
        self._stirred = asyncio.Event()
        self.dropped = 0

    def offer(self, message: Facts) -> None:
        """Take this when it is its turn; let it go where too much waits."""
        if len(self._waiting) >= MOST_WAITING:
            self.dropped += 1
            return
        self._waiting.append((message, clock.now()))
        self._stirred.set()

    async def run(self) -> None:
        """Until the connection ends."""
        while True:
            await self._stirred.wait()
            self._stirred.clear()
            while self._waiting:
                message, received_at = self._waiting[0]
                sequence = await self._take(message, received_at)
                self._waiting.popleft()
                if sequence is None:
                    return
                await self._connection.say(FactsTaken(boot=message.boot, sequence=sequence))

    async def _take(self, message: Facts, received_at: datetime) -> int | None:
        """Up to where this boot is committed now; None where this connection may tell nothing any more."""
        wait_s, connection = FIRST_WAIT_S, self._connection
        assert connection.claim is not None  # noqa: S101 - nothing is offered before the hello was answered
        bridge_id, epoch = connection.claim.bridge_id, connection.claim.epoch
        while True:
            try:
                return await FACTS.ask(
                    take_facts,
                    machine=connection.machine,
                    bridge_id=bridge_id,
                    epoch=epoch,
                    facts=message,
                    received_at=received_at,
                )
            except Unavailable:
                await asyncio.sleep(wait_s)
                wait_s = min(LONGEST_WAIT_S, wait_s * 2)
            except NotSignedIn as refusal:
                connection.end(SIGNED_OUT, refusal.code)
                return None
            except Refusal as refusal:
                _log.warning("facts refused: %s, credential %s", refusal.code, connection.machine.credential_id)
                connection.end(REPLACED, refusal.code)
                return None
