"""What Prometheus reads. With PROMETHEUS_MULTIPROC_DIR, set by the supervisor, the figures of all processes are added up."""

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from asgiref.sync import iscoroutinefunction, markcoroutinefunction
from django.db import connection
from django.http import HttpRequest, HttpResponse
from prometheus_client import CONTENT_TYPE_LATEST, REGISTRY, CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.multiprocess import MultiProcessCollector, mark_process_dead

from apps.journal.services import on_appended
from console import env

CONTENT_TYPE = CONTENT_TYPE_LATEST
_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})

_FILES = ("counter", "histogram", "gauge_livesum")  # the kinds of figures below
_ALLOCATED = 256 * 1024


def _allocate() -> None:
    """Claim the space of this process's files: figures are written through memory, where a full disk kills the process."""
    for kind in _FILES:
        with (Path(env.METRICS_FOLDER) / f"{kind}_{os.getpid()}.db").open("ab") as file:
            os.posix_fallocate(file.fileno(), 0, _ALLOCATED)


if env.METRICS_FOLDER:
    _allocate()
    os.register_at_fork(after_in_child=_allocate)

REQUESTS = Counter("pilothouse_requests", "Requests answered.", ["method", "route", "status"])
SECONDS = Histogram(
    "pilothouse_request_seconds",
    "Time from the first to the last middleware.",
    ["route"],
    buckets=(0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10),
)
REFUSALS = Counter("pilothouse_refusals", "Requests refused, by reason.", ["route", "code"])
APPENDED = Counter("pilothouse_journal_appends", "Committed appends to a stream.", ["app"])
POOL = Gauge("pilothouse_pool_connections", "PostgreSQL connections of the pools.", ["state"], multiprocess_mode="livesum")


def _count_append(stream: str, _sequence: int) -> None:
    APPENDED.labels(stream.partition(".")[0]).inc()


on_appended(_count_append)


class Measured:
    """Outermost middleware: counts and times every request by the name of its route, never by its address."""

    sync_capable = True
    async_capable = True

    def __init__(self, get_response: Callable[[HttpRequest], Any]) -> None:
        self.get_response = get_response
        self.is_async = iscoroutinefunction(get_response)
        if self.is_async:
            markcoroutinefunction(self)

    def __call__(self, request: HttpRequest) -> Any:
        """Measure one request."""
        if self.is_async:
            return self._later(request)
        start = time.perf_counter()
        response = self.get_response(request)
        _note(request, response, time.perf_counter() - start)
        return response

    async def _later(self, request: HttpRequest) -> HttpResponse:
        start = time.perf_counter()
        response = await self.get_response(request)
        _note(request, response, time.perf_counter() - start)
        return response


def _note(request: HttpRequest, response: HttpResponse, seconds: float) -> None:
    match = getattr(request, "resolver_match", None)
    route = (match.view_name if match else "") or "unnamed"
    method = request.method if request.method in _METHODS else "other"
    REQUESTS.labels(method, route, str(response.status_code)).inc()
    SECONDS.labels(route).observe(seconds)
    if code := getattr(response, "refusal_code", ""):
        REFUSALS.labels(route, code).inc()
    pool = getattr(connection, "pool", None)
    if pool is not None:
        figures = pool.get_stats()
        POOL.labels("open").set(figures.get("pool_size", 0))
        POOL.labels("idle").set(figures.get("pool_available", 0))
        POOL.labels("waiting").set(figures.get("requests_waiting", 0))


def exposition() -> bytes:
    """Every figure as text."""
    if not env.METRICS_FOLDER:
        return generate_latest(REGISTRY)
    for file in Path(env.METRICS_FOLDER).glob("gauge_live*.db"):
        pid = file.stem.rpartition("_")[2]
        if pid.isdigit() and not Path(f"/proc/{pid}").exists():
            mark_process_dead(int(pid), env.METRICS_FOLDER)
    registry = CollectorRegistry()
    MultiProcessCollector(registry, env.METRICS_FOLDER)
    return generate_latest(registry)
