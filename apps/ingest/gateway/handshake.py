"""Who may open a machine's socket: a bearer of a machine credential, and nothing that looks like a browser."""

import logging

import msgspec

from apps.accounts.selectors import verify_machine
from apps.accounts.types import VerifiedMachine
from apps.ingest.gateway.asgi import Scope, Send, answer, headers
from apps.ingest.gateway.database import CLAIMS
from apps.kernel.errors import NotSignedIn, Unavailable

LONGEST_CREDENTIAL = 200
_log = logging.getLogger(__name__)


def fault_of(scope: Scope) -> str | None:
    """Why this cannot be a machine, else None. A browser sends its cookie along to us from any page: so none may come."""
    if headers(scope, b"cookie"):
        return "A machine has no cookie."
    if headers(scope, b"origin"):
        return "A machine has no origin."
    if scope.get("query_string"):
        return "Nothing is asked for in the address."
    return None


def bearer_of(scope: Scope) -> str | None:
    """The credential, or None where there is not exactly one."""
    given = headers(scope, b"authorization")
    if len(given) != 1 or len(given[0]) > LONGEST_CREDENTIAL:
        return None
    scheme, _, text = given[0].decode("latin-1").partition(" ")
    return text if scheme.lower() == "bearer" else None


async def admit(scope: Scope, send: Send) -> VerifiedMachine | None:
    """The machine that asks, or None after an answer was sent."""
    refusal: tuple[int, str, str]
    fault, bearer = fault_of(scope), bearer_of(scope)
    if fault is not None:
        refusal = 403, "not_allowed", fault
    elif bearer is None:
        refusal = 401, "not_signed_in", "Send a machine credential: Authorization: Bearer phm_..."
    else:
        try:
            return await CLAIMS.ask(verify_machine, bearer)
        except NotSignedIn as error:
            refusal = 401, error.code, error.message
        except Unavailable as error:
            refusal = 503, error.code, error.message
    await _refuse(send, *refusal)
    return None


async def _refuse(send: Send, status: int, code: str, message: str) -> None:
    _log.warning("machine socket refused: %s", code)
    extra = {401: [(b"www-authenticate", b'Bearer realm="pilothouse"')], 503: [(b"retry-after", b"5")]}.get(status, [])
    await answer(send, "websocket.http", status, msgspec.json.encode({"code": code, "message": message}), extra=extra)
