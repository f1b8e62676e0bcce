"""Questions to the database from the gateway: in threads of their own, each with a deadline.

There is a desk for each purpose, so that facts that wait for a slow database hold up neither rights nor Stops.
"""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import ParamSpec, TypeVar

from django.db import Error as DatabaseError
from django.db import InterfaceError, close_old_connections
from psycopg_pool import PoolTimeout

from apps.kernel.errors import Unavailable

Given = ParamSpec("Given")
Result = TypeVar("Result")
DEADLINE_S = 3.0
MOST_WAITING = 64


class Desk:
    """Threads for one purpose. What cannot be answered in time is refused; the thread may still finish what it began."""

    def __init__(self, name: str, threads: int, deadline_s: float = DEADLINE_S, most_waiting: int = MOST_WAITING) -> None:
        self._threads = ThreadPoolExecutor(threads, thread_name_prefix=f"gateway-{name}")
        self._deadline_s, self._most_waiting = deadline_s, most_waiting
        self._waiting = 0

    async def ask(self, question: Callable[Given, Result], *given: Given.args, **named: Given.kwargs) -> Result:
        """The answer of a selector or service. Raises Unavailable when there is none in time, or too many wait already."""
        if self._waiting >= self._most_waiting:
            raise Unavailable("Too many ask at once.")

        def run() -> Result:
            close_old_connections()
            try:
                return question(*given, **named)
            finally:
                close_old_connections()

        self._waiting += 1
        try:
            async with asyncio.timeout(self._deadline_s):
                return await asyncio.get_running_loop().run_in_executor(self._threads, run)
        except (TimeoutError, DatabaseError, InterfaceError, PoolTimeout) as error:
            raise Unavailable("The database does not answer.") from error
        finally:
            self._waiting -= 1


ENTRY = Desk("entry", 2, deadline_s=5.0, most_waiting=256)  # which person opens a socket, and probes
CLAIMS = Desk("claims", 2, deadline_s=10.0, most_waiting=256)  # which machine, and what it speaks for
WATCH = Desk("watch", 1)  # the look at rights, Stops and orders, several times a second
FACTS = Desk("facts", 2)
STOPS = Desk("stops", 1)
STORE = Desk("store", 1, deadline_s=15.0)  # samples, reports, conditions: what may wait


async def ask(question: Callable[Given, Result], *given: Given.args, **named: Given.kwargs) -> Result:
    """Ask at the entry. Raises Unavailable."""
    return await ENTRY.ask(question, *given, **named)
