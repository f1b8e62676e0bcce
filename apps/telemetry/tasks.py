"""Housekeeping of telemetry."""

import structlog

from apps.kernel.tasks import console_task
from apps.kernel.types import Actor
from apps.telemetry import services

_log = structlog.get_logger(__name__)
MOST_ROUNDS = 100


@console_task("telemetry.forget_old_blocks")
def forget_old_blocks(_actor: Actor) -> None:
    """Forget samples older than they are kept, in short transactions; what is left waits for the next hour."""
    total = 0
    for _ in range(MOST_ROUNDS):
        forgotten = services.forget_old_blocks()
        total += forgotten
        if not forgotten:
            break
    _log.info("old samples forgotten", blocks=total)
