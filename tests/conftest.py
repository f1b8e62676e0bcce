"""Fixtures of every test: real engines, the cast, factories, guards that may be switched off."""

import os

import django
import pytest

from apps.kernel.types import Role
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


@pytest.fixture(scope="session")
def django_db_modify_db_settings_parallel_suffix(
    request: pytest.FixtureRequest, django_db_modify_db_settings_xdist_suffix: None
) -> None:
    """A run without a guard has a database of its own in the engines of the run that started it."""
    if request.config.getoption("--guard-off"):
        from django.conf import settings

        given = os.environ.get("PILOTHOUSE_TEST_DATABASE") or f"test_pilothouse_off_{os.getpid()}"
        settings.DATABASES["default"].setdefault("TEST", {})["NAME"] = given


@pytest.fixture(autouse=True, scope="session")
def _journal_may_be_emptied() -> None:
    """Between tests that commit, Django truncates every table; the journal's own trigger would rightly refuse that."""
    from django.db import connection
    from django.db.backends.postgresql.operations import DatabaseOperations

    empty = DatabaseOperations.execute_sql_flush

    def without_triggers(self: DatabaseOperations, statements: list[str]) -> None:
        with connection.cursor() as cursor:
            cursor.execute("SET session_replication_role = replica")
            try:
                empty(self, statements)
            finally:
                cursor.execute("SET session_replication_role = DEFAULT")

    DatabaseOperations.execute_sql_flush = without_triggers


def _factories():
    """Imported late: models may load only after the engines run."""
    from tests.factories import accounts

    return accounts


@pytest.fixture
def site(db):
    """The site at which the cast works."""
    return _factories().make_site("hall-a", name="Hall A")


@pytest.fixture
def other_site(db):
    """A site of which the cast knows nothing."""
    return _factories().make_site("lab-b", name="Lab B")


def _cast(role: Role):
    @pytest.fixture(name=role.value)
    def member(site):
        factories = _factories()
        return factories.grant(factories.make_person(role.label.capitalize()), site, role)

    member.__doc__ = f"Somebody who is {role.label} at `site` and nothing else."
    return member


viewer = _cast(Role.VIEWER)
operator = _cast(Role.OPERATOR)
teleoperator = _cast(Role.TELEOPERATOR)
floor_operator = _cast(Role.FLOOR_OPERATOR)
reviewer = _cast(Role.REVIEWER)
skill_author = _cast(Role.SKILL_AUTHOR)
approver = _cast(Role.APPROVER)
admin = _cast(Role.ADMIN)
auditor = _cast(Role.AUDITOR)


@pytest.fixture
def outsider(other_site):
    """Somebody with every role at `other_site` and none at `site`."""
    factories = _factories()
    return factories.grant(factories.make_person("Outsider"), other_site, *Role)


@pytest.fixture
def actor_of(db):
    """`actor_of(person, proved=True)`: a person as an actor."""
    return _factories().actor_of


@pytest.fixture
def client_of(db):
    """`client_of(person, proved=True)`: a browser signed in as the person, or as nobody for None."""
    return _factories().client_of
