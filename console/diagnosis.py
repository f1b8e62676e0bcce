"""What `manage.py doctor` looks at. Nothing here needs the database: each look says what it could not see."""

import ctypes.util
import platform
import shutil
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib import metadata
from typing import Any

import redis
from django.conf import settings
from django.db import Error as DatabaseError
from django.db import connection
from psycopg import Error as DriverError
from psycopg_pool import PoolTimeout

from apps.kernel import clock
from apps.telemetry import selectors as telemetry
from console import env, probes
from console.processes import connections_needed
from console.supervisor.folder import NEEDED_LATER, DataFolder
from console.supervisor.status import report

CLOCK_LIMIT_S = 1.0
TRANSACTION_LIMIT_S = 30.0
QUEUE_LIMIT = 1000
MEBIBYTE = 2**20
SECTIONS = ("versions", "services", "processes", "database", "pools", "lags", "clock", "disk", "extras", "settings")


@dataclass(frozen=True)
class Finding:
    """One thing that was looked at. `advice` is the step to take where it is not well."""

    section: str
    name: str
    value: Any
    ok: bool | None = None  # None: only told, not judged
    advice: str = ""
    vital: bool = True


def everything() -> list[Finding]:
    """Every finding, by section."""
    services = list(_services())
    reachable = all(one.ok for one in services if one.name == "database")
    return [
        *_versions(reachable=reachable),
        *services,
        *_processes(),
        *(_from_database() if reachable else ()),
        *_queue(),
        *_machine(),
        *_settings(),
    ]


def next_step(findings: list[Finding]) -> str:
    """The one thing to do first."""
    bad = [one for one in findings if one.ok is False]
    for one in sorted(bad, key=lambda finding: not finding.vital):
        if one.advice:
            return one.advice
    return "Nothing: all is well." if not bad else f"Look at {bad[0].section}: {bad[0].name}."


def _versions(*, reachable: bool) -> Iterator[Finding]:
    project = tomllib.loads((env.ROOT / "pyproject.toml").read_text())["project"]
    yield Finding("versions", "pilothouse", project["version"])
    yield Finding("versions", "python", platform.python_version())
    for package in ("Django", "channels", "celery", "psycopg", "uvicorn"):
        yield Finding("versions", package.lower(), metadata.version(package))
    if reachable:
        yield Finding("versions", "postgresql", _ask("SHOW server_version"))
    version = _valkey(lambda client: client.info("server"))
    if version is not None:
        yield Finding("versions", "valkey", version.get("valkey_version") or version.get("redis_version"))


_START = f"Start the console with `manage.py up --data {settings.DATA}`"
_ADVICE = {
    "database": f"{_START}, or mend PILOTHOUSE_DATABASE_URL.",
    "migrations": "Run `manage.py prepare` with the owner's address, or restart `manage.py up`, which does it.",
    "tail": "Look at log/tail.log, or start `manage.py journal tail`: without it nothing is sealed and reactions stand still.",
    "journal": "Run `manage.py journal verify`, and keep a copy of the database before anything else.",
    "valkey": f"{_START}, or mend PILOTHOUSE_VALKEY_URL.",
}


def _services() -> Iterator[Finding]:
    for part in probes.parts():
        yield Finding("services", part.name, part.reason or "ok", part.ok, _ADVICE.get(part.name, ""), part.vital)


def _processes() -> Iterator[Finding]:
    """What the supervisor of this data folder says; nothing where another one runs the console."""
    try:
        found = report(DataFolder(settings.DATA))
    except OSError as error:
        yield Finding("processes", "data folder", str(error), ok=False, advice="Make the data folder readable.")
        return
    if not found["running"]:
        yield Finding("processes", "supervisor", "does not run in this data folder")
        return
    yield Finding("processes", "supervisor", f"process {found['pid']}, {found['url']}", ok=True)
    for one in found["processes"]:
        well = one["state"] not in {"failed", "waiting", "stopped"}
        text = f"{one['state']}, {one['restarts']} restarts, {one['memory'] // MEBIBYTE} MB"
        yield Finding(
            "processes", one["name"], text, ok=well, advice=f"Read the log of {one['name']} in {settings.DATA / 'log'}."
        )


def _from_database() -> Iterator[Finding]:
    try:
        yield from _pools()
        yield from _lags()
        yield _clock()
        yield from _samples()
    except (DatabaseError, DriverError, PoolTimeout) as error:
        yield Finding("database", "questions", type(error).__name__, ok=False, advice=_ADVICE["database"])
    finally:
        connection.close()


def _pools() -> Iterator[Finding]:
    needed, most = connections_needed(), int(_ask("SHOW max_connections"))
    advice = f"Set max_connections of PostgreSQL to {needed} or more."
    yield Finding("pools", "most the processes may open", needed, ok=needed <= most, advice=advice)
    yield Finding("pools", "max_connections", most)
    yield Finding("pools", "open now", _ask("SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend'"))


def _lags() -> Iterator[Finding]:
    oldest = _ask("SELECT coalesce(extract(epoch FROM max(clock_timestamp() - xact_start)), 0)::float FROM pg_stat_activity")
    advice = "Find the process with an open transaction: it holds up whoever follows the journal."
    yield Finding("lags", "oldest open transaction, s", round(oldest, 1), oldest < TRANSACTION_LIMIT_S, advice, vital=False)
    age = _ask("SELECT extract(epoch FROM clock_timestamp() - max(recorded_at))::float FROM journal_event")
    yield Finding("lags", "newest fact, s ago", None if age is None else round(age, 1))


def _clock() -> Finding:
    """The middle of the question against the answer."""
    before = clock.now()
    theirs = datetime.fromtimestamp(float(_ask("SELECT extract(epoch FROM clock_timestamp())")), UTC)
    after = clock.now()
    off = (theirs - (before + (after - before) / 2)).total_seconds()
    advice = "Set this machine's clock: times of facts come from it."
    return Finding("clock", "database ahead by, s", round(off, 3), ok=abs(off) < CLOCK_LIMIT_S, advice=advice, vital=False)


def _samples() -> Iterator[Finding]:
    stored = telemetry.storage()
    yield Finding("disk", "stored samples, MB", stored.table_bytes // MEBIBYTE)
    if stored.oldest_ms is not None:
        days = (clock.now().timestamp() - stored.oldest_ms / 1000) / 86400
        advice = "Look at the log of the worker: it forgets old samples each hour."
        yield Finding("disk", "oldest sample, days", round(days, 1), days < settings.TELEMETRY_DAYS + 1, advice, vital=False)


def _queue() -> Iterator[Finding]:
    waiting = _valkey(lambda client: client.llen("console"), database=0)
    if waiting is not None:
        advice = "Look at the log of the worker: tasks come faster than it does them."
        yield Finding("lags", "tasks waiting", waiting, ok=waiting < QUEUE_LIMIT, advice=advice, vital=False)


def _machine() -> Iterator[Finding]:
    there = next((one for one in (settings.DATA, *settings.DATA.parents) if one.exists()), env.ROOT)
    free = shutil.disk_usage(there).free
    advice = f"Free some space: {there} has {free // MEBIBYTE} MB left."
    yield Finding("disk", f"free at {there}, MB", free // MEBIBYTE, ok=free >= NEEDED_LATER, advice=advice)
    browser = next((name for name in ("chromium", "chromium-browser", "google-chrome") if shutil.which(name)), "")
    yield Finding("extras", "chromium", browser or "missing: no browser tests, no pictures")
    mesa = ctypes.util.find_library("OSMesa")
    yield Finding("extras", "osmesa", mesa or "missing: simulators give no pictures without a screen")


def _settings() -> Iterator[Finding]:
    yield Finding("settings", "deployment", getattr(settings, "DEPLOYMENT", "unknown"))
    for variable in env.VARIABLES:
        value = env.read(variable.name)
        shown = ("(set)" if value else "(not set)") if variable.secret else value
        yield Finding("settings", f"{env.PREFIX}{variable.name}", shown)


def _ask(statement: str) -> Any:
    with connection.cursor() as cursor:
        cursor.execute(statement)
        return cursor.fetchone()[0]


def _valkey(ask: Callable[[Any], Any], *, database: int = 0) -> Any:
    """An answer of Valkey, or None."""
    try:
        with redis.Redis.from_url(
            settings.VALKEY_URL, db=database, socket_timeout=probes.VALKEY_WAIT_S, socket_connect_timeout=probes.VALKEY_WAIT_S
        ) as client:
            return ask(client)
    except (redis.RedisError, OSError, ValueError):
        return None
