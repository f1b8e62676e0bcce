"""Events of tests, and threads with connections of their own."""

import threading
from collections.abc import Callable
from typing import Any

import pytest
from django.db import close_old_connections, connection

from apps.journal.events import event
from apps.journal.types import Payload


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
