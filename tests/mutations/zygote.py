"""Runs tests with a guard off in forks of one prepared process: Django is loaded and migrated once, not once a guard.

Started by `test_guards_off.py` as `python -m tests.mutations.zygote`, with the engines of its run in the environment.
Each line read is {"guard", "tests"}; each line written is {"status", "output"}.
"""

import importlib
import json
import os
import sys
import tempfile
from typing import Any

import django
import psycopg

from tests.mutations import WORDS

ROOT_URL = os.environ["PILOTHOUSE_DATABASE_URL"]
TEMPLATE = f"guards_{os.getpid()}"
# Loaded before the forks: what pytest's plugins bring takes longer than most runs.
LOADED = (
    "console.urls",
    "console.asgi",
    "console.gateway",
    "psutil",
    "rest_framework.test",
    "websockets.asyncio.client",
    "hypothesis.strategies",
    "hypothesis.core",
    "schemathesis",
    "schemathesis.pytest.plugin",
    "pytest_django.plugin",
    "pytest_asyncio.plugin",
    "allauth.mfa.webauthn.internal.auth",
    "fido2.webauthn",
)


def _execute(statement: str) -> None:
    with psycopg.connect(ROOT_URL, dbname="postgres", autocommit=True, connect_timeout=10) as connection:
        connection.execute(statement.encode())


def _prepare() -> None:
    """Load what every run loads, and migrate the database that each run gets a copy of."""
    django.setup()
    from django.conf import settings
    from django.db import connection, connections

    settings.DATABASES["default"].setdefault("TEST", {})["NAME"] = TEMPLATE
    connection.creation.create_test_db(verbosity=0, autoclobber=True, serialize=False)
    connections.close_all()
    for name in (
        "console.urls",
        "console.asgi",
        "console.gateway",
        "psutil",
        "rest_framework.test",
        "websockets.asyncio.client",
    ):
        importlib.import_module(name)
    connections.close_all()


def _child(asked: dict[str, Any], database: str, output: int) -> int:
    os.dup2(output, 1)
    os.dup2(output, 2)
    os.environ["PILOTHOUSE_TEST_DATABASE"] = database
    import pytest

    status = int(
        pytest.main(
            [*WORDS, "-W", "ignore::pytest.PytestAssertRewriteWarning", f"--guard-off={asked['guard']}", *asked["tests"]]
        )
    )
    sys.stdout.flush()
    sys.stderr.flush()
    return status


def _run(asked: dict[str, Any], number: int) -> dict[str, Any]:
    database = f"{TEMPLATE}_{number}"
    _execute(f'CREATE DATABASE "{database}" TEMPLATE "{TEMPLATE}"')
    with tempfile.TemporaryFile() as output:
        child = os.fork()
        if child == 0:
            status = 70  # anything but pytest's own statuses, for a child that fails before pytest ends
            try:
                status = _child(asked, database, output.fileno())
            finally:
                os._exit(status)
        _, ended = os.waitpid(child, 0)
        output.seek(0)
        said = output.read().decode(errors="replace")
    _execute(f'DROP DATABASE IF EXISTS "{database}" WITH (FORCE)')
    return {"status": os.waitstatus_to_exitcode(ended), "output": said}


def main() -> None:
    """Serve runs until standard input ends."""
    lines = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # nothing but answers may reach the pipe
    _prepare()
    try:
        for number, line in enumerate(sys.stdin):
            lines.write(json.dumps(_run(json.loads(line), number)) + "\n")
            lines.flush()
    finally:
        _execute(f'DROP DATABASE IF EXISTS "{TEMPLATE}" WITH (FORCE)')


if __name__ == "__main__":
    main()
