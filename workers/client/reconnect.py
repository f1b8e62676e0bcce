"""Connects, and connects again."""

import asyncio
import logging
import time
from typing import TYPE_CHECKING

from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed, InvalidHandshake, InvalidStatus

from workers.client.address import is_here
from workers.client.backoff import Backoff
from workers.client.session import Ended, Session

if TYPE_CHECKING:
    from workers.client.client import Client

OPEN_WITHIN_S, CLOSE_WITHIN_S = 10.0, 2.0
LARGEST_FRAME = 2**20
WORKED_AFTER_S = 10.0
# A credential that no longer holds, a hello refused, a message refused, another bridge that took our place: trying again at
# once would only be refused, or take the place back and forth.
LASTING_CODES = {4400, 4401, 4403, 4409}
LASTING_STATUS = {400, 401, 403, 404}
_log = logging.getLogger(__name__)
_QUIET = logging.getLogger("workers.client.socket")
_QUIET.setLevel(logging.WARNING)  # below it, the library logs the handshake with the credential in it


async def keep_connected(client: "Client") -> None:
    """Speak to the gateway whenever it can be reached, until cancelled."""
    backoff = Backoff()
    while True:
        began = time.monotonic()
        try:
            await _speak(client)
            ended = Ended("the gateway closed the socket")
        except Ended as error:
            ended = error
        except ConnectionClosed as error:
            code, reason = (error.rcvd.code, error.rcvd.reason) if error.rcvd else (1006, "the link was lost")
            ended = Ended(f"closed: {code} {reason}", lasting=code in LASTING_CODES)
        except InvalidStatus as error:
            ended = _turned_away(error)
        except (OSError, TimeoutError, InvalidHandshake) as error:
            ended = Ended(f"no gateway there: {str(error) or type(error).__name__}")
        if client.link.connected and time.monotonic() - began > WORKED_AFTER_S:
            backoff.worked()
        wait = backoff.slow_s() if ended.lasting else backoff.next_s()
        wait = max(wait, client.cut_until - time.monotonic())
        client.link.connected, client.link.fault = False, ended.reason
        client.record.write("closed", reason=ended.reason, wait_s=round(wait, 3))
        _log.warning("not connected: %s; next try in %.1f s", ended.reason, wait)
        await asyncio.sleep(wait)


async def _speak(client: "Client") -> None:
    opening = connect(
        client.url,
        additional_headers={"Authorization": f"Bearer {client.identity.credential}"},
        compression=None,
        proxy=None if is_here(client.url) else True,
        open_timeout=OPEN_WITHIN_S,
        close_timeout=CLOSE_WITHIN_S,
        ping_interval=None,  # our own heartbeats say more
        max_size=LARGEST_FRAME,
        logger=_QUIET,
    )
    async with opening as socket:
        try:
            await Session(client, socket).run()
        finally:
            await socket.close(reason="the bridge ends it")


def _turned_away(error: InvalidStatus) -> Ended:
    status, body = error.response.status_code, error.response.body or b""
    return Ended(f"turned away: {status} {body[:200].decode(errors='replace')}".strip(), lasting=status in LASTING_STATUS)
