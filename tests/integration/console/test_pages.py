"""The handler of pages: bodies with a limit, streams with back-pressure, probes that a stuck database cannot hold up."""

import asyncio
import os
import socket
import threading
import time

import pytest
from django.db import connection
from django.http import HttpResponse, StreamingHttpResponse

from console import pages
from console.pages import LARGEST_BODY, Pages


def scope(path="/healthz", method="GET"):
    headers = [(b"host", b"localhost")]
    return {"type": "http", "method": method, "path": path, "query_string": b"", "headers": headers, "client": ("127.0.0.1", 1)}


async def call(handler, where, parts=(b"",)):
    """Status, headers and body of one request whose body comes in parts."""
    waiting = [{"type": "http.request", "body": part, "more_body": True} for part in parts[:-1]]
    waiting.append({"type": "http.request", "body": parts[-1], "more_body": False})
    sent = []

    async def receive():
        return waiting.pop(0) if waiting else {"type": "http.disconnect"}

    async def send(message):
        sent.append(message)

    await handler(where, receive, send)
    return sent[0]["status"], dict(sent[0]["headers"]), b"".join(one["body"] for one in sent[1:]), sent


@pytest.fixture
def handler(transactional_db):
    return Pages()


async def test_answers_from_first_to_last_middleware(handler):
    status, headers, body, _ = await call(handler, scope())
    assert (status, body) == (200, b'{"status": "ok"}')
    assert {b"X-Correlation-Id", b"Cache-Control", b"Content-Length", b"X-Frame-Options"} <= set(headers)


async def test_takes_no_body_over_the_limit(handler):
    part = b"x" * (LARGEST_BODY // 4)
    status, headers, _, _ = await call(handler, scope("/account/login/", "POST"), [part] * 5)
    assert (status, headers[b"Connection"]) == (413, b"close")


async def test_gives_up_on_a_body_that_never_ends(handler, monkeypatch):
    monkeypatch.setattr(pages, "BODY_WITHIN_S", 0.2)
    sent = []

    async def receive():
        await asyncio.sleep(0.05)
        return {"type": "http.request", "body": b"x", "more_body": True}

    async def send(message):
        sent.append(message)

    await handler(scope("/account/login/", "POST"), receive, send)
    assert sent[0]["status"] == 408


async def test_says_nothing_to_a_client_that_left(handler):
    sent = []

    async def receive():
        return {"type": "http.disconnect"}

    await handler(scope(), receive, sent.append)
    assert sent == []


async def test_streams_in_parts_from_one_thread(handler, monkeypatch):
    threads = set()

    def parts():
        for _ in range(40):
            threads.add(threading.get_ident())
            yield b"x" * 10_000

    monkeypatch.setattr(handler, "get_response", lambda request: StreamingHttpResponse(parts()))
    status, _, body, sent = await call(handler, scope("/any"))
    assert (status, len(body), len(threads)) == (200, 400_000, 1)
    assert 5 < len(sent) < 12


async def test_sends_each_cookie(handler, monkeypatch):
    def answer(request):
        response = HttpResponse(b"")
        response.set_cookie("a", "1", httponly=True)
        response.set_cookie("b", "2")
        return response

    monkeypatch.setattr(handler, "get_response", answer)
    _, _, _, sent = await call(handler, scope("/any"))
    cookies = [value for name, value in sent[0]["headers"] if name == b"Set-Cookie"]
    assert cookies == [b"a=1; HttpOnly; Path=/", b"b=2; Path=/"]


async def test_probes_are_answered_while_every_page_thread_is_stuck(handler, monkeypatch, settings):
    stuck, answer = threading.Event(), handler.get_response

    def get_response(request):
        if request.path == "/stuck":
            stuck.wait(timeout=20)
        return answer(request)

    monkeypatch.setattr(handler, "get_response", get_response)
    held = [asyncio.create_task(call(handler, scope("/stuck"))) for _ in range(settings.PAGE_THREADS * 2)]
    try:
        await asyncio.sleep(0.1)
        status, *_ = await asyncio.wait_for(call(handler, scope("/healthz")), timeout=5)
        assert status == 200
    finally:
        stuck.set()
        await asyncio.gather(*held)


async def test_a_page_that_hangs_is_given_up_in_time(handler, monkeypatch, settings):
    """A database that hangs without ending the connection must not leave people, and those queued behind, waiting for ever."""
    stuck, answer, asked = threading.Event(), handler.get_response, []

    def get_response(request):
        asked.append(request.path)
        stuck.wait(timeout=20)
        return answer(request)

    monkeypatch.setattr(pages, "ANSWERED_WITHIN_S", 0.5)
    monkeypatch.setattr(handler, "get_response", get_response)
    try:
        waiting = [call(handler, scope("/stuck")) for _ in range(settings.PAGE_THREADS * 2)]
        given_up = await asyncio.wait_for(asyncio.gather(*waiting), timeout=5)
    finally:
        stuck.set()
    assert {(status, headers[b"Retry-After"], len(sent)) for status, headers, _, sent in given_up} == {(503, b"5", 2)}
    status, *_ = await call(handler, scope("/any"))
    assert status == 404  # the threads are free again
    assert len(asked) == settings.PAGE_THREADS + 1  # and nothing that was queued is done after all


async def test_a_stream_that_began_is_not_given_up(handler, monkeypatch):
    def parts():
        for _ in range(4):
            yield b"x" * pages.PART_SIZE
            time.sleep(0.1)

    monkeypatch.setattr(pages, "ANSWERED_WITHIN_S", 0.15)
    monkeypatch.setattr(handler, "get_response", lambda request: StreamingHttpResponse(parts()))
    status, _, body, _ = await call(handler, scope("/any"))
    assert (status, len(body)) == (200, 4 * pages.PART_SIZE)


def test_a_database_that_falls_silent_is_noticed(db):
    """Without these a connection to a machine that vanished waits for two hours."""
    connection.ensure_connection()
    with socket.socket(fileno=os.dup(connection.connection.fileno())) as opened:
        assert opened.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE) == 1
        assert 0 < opened.getsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE) <= 30
        assert 0 < opened.getsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT) <= 30_000
