"""Appending facts. A service opens `operation(...)`, appends and projects inside it, and gets the same result on a retry.

What has to happen because of a fact, after its commit, is a reaction: `react(name, types, handler)`.
Tables that follow from facts are registered with `projection(name, tables, rebuild)`, so that a replay can make them again.
"""

from apps.journal.selectors import as_recorded
from apps.journal.services.appending import on_appended
from apps.journal.services.exporting import export_lines
from apps.journal.services.fast import append_fast
from apps.journal.services.keys import forget_old_keys
from apps.journal.services.operations import Operation, operation
from apps.journal.services.reacting import react
from apps.journal.services.replaying import projection, replay, use_owner_role
from apps.journal.services.seal_folder import SealFault, SealFolder
from apps.journal.services.tail import Tail, catch_up, restart_sealing, seal_now
from apps.journal.services.verifying import record_verification, verify_journal

__all__ = [
    "Operation",
    "SealFault",
    "SealFolder",
    "Tail",
    "append_fast",
    "as_recorded",
    "catch_up",
    "export_lines",
    "forget_old_keys",
    "on_appended",
    "operation",
    "projection",
    "react",
    "record_verification",
    "replay",
    "restart_sealing",
    "seal_now",
    "use_owner_role",
    "verify_journal",
]
