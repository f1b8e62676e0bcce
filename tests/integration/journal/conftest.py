"""Events of tests, and threads with connections of their own."""

import os
import threading
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import unquote, urlsplit

import psycopg
import pytest
from django.core.management import call_command
from django.db import close_old_connections, connection, connections

from apps.journal.events import event
from apps.journal.types import Payload
from tests import engines


@event("test.counted")
class Counted(Payload):
    """A fact of these tests."""

    number: int
    note: str = ""


@pytest.fixture
def counted() -> type[Payload]:
    """The payload class of these tests."""
    return Counted


@pytest.fixture
def at_once(transactional_db: None) -> Callable[..., list[Any]]:
    """Run functions at the same moment, each on its own connection; results or exceptions in their order."""

    def run(*functions: Callable[[], Any]) -> list[Any]:
        answers: list[Any] = [None] * len(functions)
        start = threading.Barrier(len(functions))

        def work(index: int) -> None:
            try:
                connection.ensure_connection()
                start.wait(timeout=20)
                answers[index] = functions[index]()
            except Exception as error:  # noqa: BLE001 - handed back to the test
                answers[index] = error
            finally:
                connection.close()
                close_old_connections()

        threads = [threading.Thread(target=work, args=(index,)) for index in range(len(functions))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(timeout=60)
        return answers

    return run


@pytest.fixture(scope="session")
def deployed(django_db_blocker: Any) -> Iterator[Callable[[str], psycopg.Connection]]:
    """The database of a deployment, migrated by its owner role; connects as the role asked for. Nothing is committed."""
    urls = {"pilothouse": os.environ[engines.OWNER], "pilothouse_app": os.environ[engines.RUNTIME]}
    parts = urlsplit(urls["pilothouse"])
    owner = connections.settings["default"] | {
        "NAME": parts.path.lstrip("/"),
        "USER": parts.username,
        "PASSWORD": unquote(parts.password or ""),
    }
    with django_db_blocker.unblock(), psycopg.connect(urls["pilothouse"], autocommit=True) as guard:
        guard.execute("SELECT pg_advisory_lock(1)")  # other workers of this run wait here
        connections.settings["deployment"] = owner
        try:
            call_command("migrate", database="deployment", verbosity=0, interactive=False)
        finally:
            connections["deployment"].close()
            del connections["deployment"]
            del connections.settings["deployment"]
    opened: list[psycopg.Connection] = []

    def connect(role: str) -> psycopg.Connection:
        opened.append(psycopg.connect(urls[role], connect_timeout=5))
        return opened[-1]

    yield connect
    for one in opened:
        one.close()
