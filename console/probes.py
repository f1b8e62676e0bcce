"""What the console needs to work, asked for with deadlines: the database, its migrations, the journal, Valkey.

Each answer is a word and a reason that gives nothing away: these are shown to anybody who can reach `/readyz`.
"""

from collections.abc import Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as LateError
from dataclasses import dataclass
from functools import cache

import redis
from django.conf import settings
from django.db import Error as DatabaseError
from django.db import connection
from django.db.migrations.loader import MigrationLoader
from psycopg import Error as DriverError
from psycopg_pool import PoolTimeout

from apps.journal import selectors as journal

DEADLINE_S = 3.0
VALKEY_WAIT_S = 1.0
TAIL_LATE_S = 10.0  # an alarm comes sooner; a tail process that is started again takes some seconds


@dataclass(frozen=True, kw_only=True)
class Part:
    """One thing the console needs. Without a vital part it cannot serve; without another it serves worse."""

    name: str
    ok: bool = True
    reason: str = ""
    vital: bool = True


@cache
def _asking() -> ThreadPoolExecutor:
    """A probe of a hung server hangs too. Four may; after that the answer is "late" without another thread."""
    return ThreadPoolExecutor(max_workers=4, thread_name_prefix="probe")


def parts() -> list[Part]:
    """Ask everything at once and wait three seconds at most."""
    database, valkey = _asking().submit(database_parts), _asking().submit(valkey_parts)
    return [
        *_answer(database, Part(name="database", ok=False, reason="does not answer in time")),
        *_answer(valkey, Part(name="valkey", ok=False, reason="does not answer in time", vital=False)),
    ]


def _answer(asked: "Future[list[Part]]", late: Part) -> Iterable[Part]:
    try:
        return asked.result(timeout=DEADLINE_S)
    except LateError:
        asked.cancel()
        return [late]


def database_parts() -> list[Part]:
    """The database, its migrations and the journal. The connection goes back at once: probe threads live on."""
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
        missing = missing_migrations()
        if missing:
            reason = f"{len(missing)} not applied, first {missing[0]}"
            return [Part(name="database"), Part(name="migrations", ok=False, reason=reason)]
        trouble = journal.trouble()
        late = journal.tail_lag_s() > TAIL_LATE_S
        return [
            Part(name="database"),
            Part(name="migrations"),
            Part(name="journal", ok=not trouble, reason=trouble),
            Part(name="tail", ok=not late, reason="facts wait for their number" if late else "", vital=False),
        ]
    except PoolTimeout:
        return [Part(name="database", ok=False, reason="gives no connection")]
    except (DatabaseError, DriverError):
        return [Part(name="database", ok=False, reason="does not answer")]
    finally:
        connection.close()


@cache
def _known_migrations() -> dict[tuple[str, str], frozenset[tuple[str, str]]]:
    """Every migration of the code, with those it may stand for."""
    loader = MigrationLoader(None, ignore_no_migrations=True)
    return {key: frozenset(migration.replaces) for key, migration in (loader.disk_migrations or {}).items()}


def missing_migrations() -> list[str]:
    """Migrations of the code that the database has not seen, as `app.name`."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT to_regclass('django_migrations') IS NOT NULL")
        applied: set[tuple[str, str]] = set()
        if cursor.fetchone()[0]:
            cursor.execute("SELECT app, name FROM django_migrations")
            applied = set(cursor.fetchall())
    stand_ins = {key: replaced for key, replaced in _known_migrations().items() if replaced}
    done = applied | {key for key, replaced in stand_ins.items() if replaced <= applied}
    done |= {old for key, replaced in stand_ins.items() if key in done for old in replaced}
    return sorted(f"{app}.{name}" for app, name in _known_migrations() if (app, name) not in done)


def valkey_parts() -> list[Part]:
    """Valkey: pages live without it, but nothing on them moves and no limit can be counted."""
    try:
        with redis.Redis.from_url(
            settings.VALKEY_URL, socket_timeout=VALKEY_WAIT_S, socket_connect_timeout=VALKEY_WAIT_S
        ) as client:
            client.ping()
        return [Part(name="valkey", vital=False)]
    except (redis.RedisError, OSError, ValueError):
        return [Part(name="valkey", ok=False, reason="does not answer", vital=False)]
