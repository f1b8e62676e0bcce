"""The project as an app, for its management commands."""

import atexit

from django.apps import AppConfig


class ConsoleConfig(AppConfig):
    """Declares what views of libraries need, once every app is loaded."""

    name = "console"
    label = "console"

    def ready(self) -> None:
        """Load the wiring between apps."""
        from console import wiring  # noqa: F401

        atexit.register(_close_pools)


def _close_pools() -> None:
    """End the pools' threads while Python still runs: one that wakes during its last moments aborts the process."""
    from django.db.backends.postgresql.base import DatabaseWrapper

    for pool in DatabaseWrapper._connection_pools.values():  # type: ignore[attr-defined]
        pool.close(timeout=2)
