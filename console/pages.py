"""The ASGI handler of pages and the API: each request runs from its first middleware to its last in one thread.

Django's own handler crosses between the event loop and a fresh thread many times for one request, because most
middleware and all our views are synchronous: that alone cost as much time as a whole page. Here one of a fixed number of
threads does everything, as many as the process may hold PostgreSQL connections, so that no request waits for the pool.
Supervisors have threads of their own: a database that hangs must not make this process look dead.
"""

import asyncio
import logging
import tempfile
from collections.abc import Awaitable, Callable, Coroutine, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from typing import Any, BinaryIO

from django.conf import settings
from django.core import signals
from django.core.handlers.asgi import ASGIHandler, get_script_prefix
from django.http import HttpResponse
from django.http.response import HttpResponseBase
from django.urls import set_script_prefix

Message = dict[str, Any]
Send = Callable[[Message], Coroutine[Any, Any, None]]
Receive = Callable[[], Awaitable[Message]]

_log = logging.getLogger(__name__)
PROBES = frozenset({"/healthz", "/readyz", "/metrics"})
LARGEST_BODY = 8 * 1024 * 1024
BODY_WITHIN_S = 30.0
SENT_WITHIN_S = 60.0
ANSWERED_WITHIN_S = 35.0  # longer than PostgreSQL lets any of our transactions last: past it, PostgreSQL itself hangs
PART_SIZE = 64 * 1024


class TooLargeError(Exception):
    """The body of a request is larger than any we take."""


class Pages(ASGIHandler):
    """Answers HTTP."""

    def __init__(self) -> None:
        super().__init__()
        self._threads = ThreadPoolExecutor(settings.PAGE_THREADS, thread_name_prefix="page")
        self._probes = ThreadPoolExecutor(2, thread_name_prefix="probe-page")

    def load_middleware(self, is_async: bool = False) -> None:  # noqa: FBT001, FBT002 - Django's signature
        """Build the chain for threads."""
        super().load_middleware(is_async=False)

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Read the body, answer in a thread, send."""
        if scope["type"] != "http":
            raise ValueError(f"this answers HTTP, not {scope['type']}")
        try:
            async with asyncio.timeout(BODY_WITHIN_S):
                body = await _body(receive)
        except TimeoutError:
            await _refuse(send, 408)
            return
        except TooLargeError:
            await _refuse(send, 413)
            return
        if body is None:
            return  # the client went away
        threads = self._probes if scope["path"] in PROBES else self._threads
        loop = asyncio.get_running_loop()
        context, reply = copy_context(), _Reply(send)
        answer = loop.run_in_executor(threads, context.run, self._answer, scope, body, _sender(loop, reply.send))
        await asyncio.wait({answer}, timeout=ANSWERED_WITHIN_S)
        if not answer.done() and not reply.begun:
            reply.given_up = True
            if answer.cancel():  # it waited for a thread; one that has a thread goes on until what it waits for gives up
                body.close()
            _log.warning("a page was given up: no thread, or no database, within %.0f s", ANSWERED_WITHIN_S)
            await _refuse(send, 503)
            return
        for message in await answer:
            await reply.send(message)

    def _answer(self, scope: Mapping[str, Any], body: BinaryIO, send: Callable[[Message], None]) -> list[Message]:
        """Everything between the body and the answer, in this thread; what is streamed is sent from here."""
        try:
            set_script_prefix(get_script_prefix(scope))
            signals.request_started.send(sender=self.__class__, scope=scope)
            request, early = self.create_request(scope, body)
            response: Any = early if request is None else self.get_response(request)
            response._handler_class = self.__class__
            try:
                if response.streaming:
                    _stream(response, send)
                    return []
                content = response.content
            finally:
                response.close()  # gives the database connection back
            return [_start(response), {"type": "http.response.body", "body": content}]
        finally:
            body.close()


class _Reply:
    """One answer: sent for its thread, or given up for taking too long, never both. Both are decided in the event loop."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self.begun = False
        self.given_up = False

    async def send(self, message: Message) -> None:
        """Pass a message on. Raises TimeoutError when the answer was given up."""
        if self.given_up:
            raise TimeoutError
        self.begun = True
        await self._send(message)


def _stream(response: HttpResponseBase, send: Callable[[Message], None]) -> None:
    """Send parts as they are made; a slow client slows its own thread, for a limited time."""
    send(_start(response))
    for part in _parts(response):
        send({"type": "http.response.body", "body": part, "more_body": True})
    send({"type": "http.response.body", "body": b""})


def _parts(response: Any) -> Iterator[bytes]:
    """The content in parts of a size worth sending."""
    if response.is_async:
        raise TypeError("views of this console stream from threads: give an ordinary iterator")
    if hasattr(response, "block_size"):
        response.block_size = PART_SIZE
    gathered = b""
    for part in response:
        gathered += part
        if len(gathered) >= PART_SIZE:
            yield gathered
            gathered = b""
    if gathered:
        yield gathered


def _sender(loop: asyncio.AbstractEventLoop, send: Send) -> Callable[[Message], None]:
    """`send` for use in a thread. Raises TimeoutError for a client that does not read."""

    def sent(message: Message) -> None:
        asyncio.run_coroutine_threadsafe(send(message), loop).result(timeout=SENT_WITHIN_S)

    return sent


def _start(response: HttpResponseBase) -> Message:
    headers = [(name.encode("ascii"), value.encode("latin-1")) for name, value in response.items()]
    headers += [(b"Set-Cookie", cookie.output(header="").strip().encode("ascii")) for cookie in response.cookies.values()]
    return {"type": "http.response.start", "status": response.status_code, "headers": headers}


async def _body(receive: Receive) -> BinaryIO | None:
    """The whole body, in memory or a file; None when the client went away."""
    body = tempfile.SpooledTemporaryFile(max_size=settings.FILE_UPLOAD_MAX_MEMORY_SIZE)  # noqa: SIM115 - closed after use
    size = 0
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            body.close()
            return None
        part = message.get("body", b"")
        size += len(part)
        if size > LARGEST_BODY:
            body.close()
            raise TooLargeError
        body.write(part)
        if not message.get("more_body", False):
            body.seek(0)
            return body  # type: ignore[return-value]


async def _refuse(send: Send, status: int) -> None:
    """Answer without reading the rest, and close."""
    headers = {"Connection": "close", "Cache-Control": "no-store"} | ({"Retry-After": "5"} if status == 503 else {})
    response = HttpResponse(status=status, headers=headers)
    await send(_start(response))
    await send({"type": "http.response.body", "body": b""})
