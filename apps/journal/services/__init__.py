"""Appending facts. A service opens `operation(...)`, appends and projects inside it, and gets the same result on a retry."""

from apps.journal.services.appending import as_recorded, on_appended
from apps.journal.services.keys import forget_old_keys
from apps.journal.services.operations import Operation, operation

__all__ = ["Operation", "as_recorded", "forget_old_keys", "on_appended", "operation"]
