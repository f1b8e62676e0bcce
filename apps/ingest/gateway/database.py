"""Questions to the database from the gateway: in threads of its own, each with a deadline."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import ParamSpec, TypeVar

from django.db import Error as DatabaseError
from django.db import close_old_connections

from apps.kernel.errors import Unavailable

Given = ParamSpec("Given")
Result = TypeVar("Result")
THREADS = 4
DEADLINE_S = 3.0
MOST_WAITING = 64
_threads = ThreadPoolExecutor(THREADS, thread_name_prefix="gateway")
_waiting = 0


async def ask(question: Callable[Given, Result], *given: Given.args, **named: Given.kwargs) -> Result:
    """The answer of a selector. Raises Unavailable when there is none in time, or when too many wait already."""
    global _waiting
    if _waiting >= MOST_WAITING:
        raise Unavailable("Too many ask at once.")

    def run() -> Result:
        close_old_connections()
        try:
            return question(*given, **named)
        finally:
            close_old_connections()

    _waiting += 1
    try:
        async with asyncio.timeout(DEADLINE_S):
            return await asyncio.get_running_loop().run_in_executor(_threads, run)
    except (TimeoutError, DatabaseError) as error:
        raise Unavailable("The database does not answer.") from error
    finally:
        _waiting -= 1
