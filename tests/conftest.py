"""Fixtures of every test: real engines, the cast, factories, guards that may be switched off."""

import django
import pytest

from tests import engines

_running: engines.Engines | None = None


def pytest_addoption(parser: pytest.Parser) -> None:
    """`--guard-off NAME` runs a test with one guard switched off; it must then fail (see tests/mutations)."""
    parser.addoption("--guard-off", default="", help="name of a guard in tests/guards.py to switch off")


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """Start the engines once a run, before pytest-django loads the settings."""
    global _running
    if not engines.shared() and not config.option.collectonly and not config.option.help:
        _running = engines.Engines()
        engines.share(_running)
    if engines.shared():
        django.setup()


def pytest_unconfigure() -> None:
    """Stop what this process started."""
    global _running
    if _running is not None:
        _running.stop()
        _running = None


@pytest.fixture(autouse=True, scope="session")
def _guard_off(request: pytest.FixtureRequest) -> None:
    """Switch off the named guard for the whole run."""
    name = request.config.getoption("--guard-off")
    if name:
        from tests.guards import switch_off

        switch_off(name)
