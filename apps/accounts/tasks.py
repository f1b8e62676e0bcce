"""Housekeeping of accounts."""

import structlog

from apps.accounts.services import budgets, sign_in
from apps.kernel.tasks import console_task
from apps.kernel.types import Actor

_log = structlog.get_logger(__name__)


@console_task("accounts.forget_old_sign_ins")
def forget_old_sign_ins(_actor: Actor) -> None:
    """Forget sessions that ran out and budgets that ran empty long ago."""
    _log.info("old sign-ins forgotten", sessions=sign_in.forget_expired_sessions(), budgets=budgets.forget_old())
