"""Housekeeping of the journal."""

import structlog

from apps.journal import services
from apps.kernel.tasks import console_task
from apps.kernel.types import Actor

_log = structlog.get_logger(__name__)
MOST_ROUNDS = 20


@console_task("journal.forget_old_keys")
def forget_old_keys(_actor: Actor) -> None:
    """Forget idempotency keys older than thirty days, in short transactions; what is left waits for the next night."""
    total = 0
    for _ in range(MOST_ROUNDS):
        forgotten = services.forget_old_keys()
        total += forgotten
        if not forgotten:
            break
    _log.info("old idempotency keys forgotten", count=total)
