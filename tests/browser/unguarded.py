"""The web process for a run of a test without its guard; started by `server.py` in the place of console.asgi."""

import os

from tests.guards import switch_off

GUARD = "TESTS_GUARD_OFF"

if os.environ.get(GUARD):
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "console.settings.embedded")
    switch_off(os.environ[GUARD])

from console.asgi import application  # noqa: E402 - the guard goes first

__all__ = ["application"]
