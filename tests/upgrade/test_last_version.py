"""The database of the last version, as it was dumped then, is brought to this one and still proves itself."""

import gzip
import os
import subprocess
import sys
import uuid
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from psycopg import sql

from console.embedded import postgres
from console.supervisor.backup import client_environment
from tests.engines import OWNER

ROOT = Path(__file__).resolve().parents[2]
DUMPS = sorted(ROOT.glob("tests/upgrade/*.sql.gz"), key=lambda path: [int(part) for part in path.name.split(".")[:3]])
# Read by a process of its own, since this one speaks to another database.
QUESTIONS = """
import django; django.setup()
from django.core.management import call_command
from apps.accounts.models import Person, RoleGrant, Site
from apps.journal import selectors
from apps.journal.events import decode
from apps.journal.models import Event
call_command("migrate", check_unapplied=True, verbosity=0)
call_command("check", verbosity=0)
assert list(selectors.chain_faults()) == [], list(selectors.chain_faults())
assert selectors.trouble() == "", selectors.trouble()
for event in Event.objects.all():
    decode(event.type, event.version, event.payload)
print(Event.objects.count(), Person.objects.count(), Site.objects.count(), RoleGrant.objects.count())
"""


def on(url: str, database: str) -> str:
    """The same server and role, another database."""
    return f"{url.rpartition('/')[0]}/{database}"


@pytest.fixture(scope="module")
def urls() -> Iterator[dict[str, str]]:
    """An empty database of its own: its address as the superuser and as the owner."""
    name = f"upgrade_{uuid.uuid4().hex[:12]}"
    superuser, owner = os.environ["PILOTHOUSE_DATABASE_URL"], os.environ[OWNER]
    with psycopg.connect(on(superuser, "postgres"), autocommit=True) as connection:
        connection.execute(sql.SQL("CREATE DATABASE {} OWNER pilothouse TEMPLATE template0").format(sql.Identifier(name)))
        with psycopg.connect(on(superuser, name), autocommit=True) as inside:
            inside.execute("ALTER SCHEMA public OWNER TO pilothouse")
        try:
            yield {"superuser": on(superuser, name), "owner": on(owner, name)}
        finally:
            connection.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))


def counts(url: str) -> tuple[int, ...]:
    """Events, people, sites and roles, asked past Django."""
    tables = ("journal_event", "accounts_person", "accounts_site", "accounts_role_grant")
    with psycopg.connect(url) as connection:
        found = [connection.execute(sql.SQL("SELECT count(*) FROM {}").format(sql.Identifier(name))) for name in tables]
        return tuple(int(cursor.fetchone()[0]) for cursor in found)


def python(url: str, *words: str) -> str:
    """Run Python on this version's code and that database."""
    environment = {**os.environ, "PILOTHOUSE_DATABASE_URL": url, "DJANGO_SETTINGS_MODULE": "console.settings.embedded"}
    done = subprocess.run(
        [sys.executable, *words], cwd=ROOT, env=environment, capture_output=True, text=True, timeout=90, check=False
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-4000:]
    return done.stdout


@pytest.fixture(scope="module")
def migrated(urls: dict[str, str]) -> tuple[dict[str, str], tuple[int, ...]]:
    """The last dump brought to this version, and what was counted in it before."""
    if not DUMPS:
        pytest.skip("no version has ended yet, so there is no dump to start from")
    dump = gzip.decompress(DUMPS[-1].read_bytes())
    command = [str(postgres.binaries() / "psql"), "-X", "-q", "-v", "ON_ERROR_STOP=1"]
    done = subprocess.run(
        command, env=client_environment(urls["owner"]), input=dump, capture_output=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr.decode()[-2000:]
    before = counts(urls["owner"])
    assert all(count > 0 for count in before)
    python(urls["owner"], "manage.py", "migrate", "--noinput", "--verbosity", "0")
    return urls, before


def test_the_last_version_migrates_and_its_journal_verifies(migrated):
    urls, before = migrated
    assert counts(urls["owner"]) == before
    assert tuple(map(int, python(urls["owner"], "-c", QUESTIONS).split()[-4:])) == before


def test_the_runtime_role_still_cannot_change_a_fact(migrated):
    urls, _ = migrated
    with psycopg.connect(urls["superuser"]) as connection:
        connection.execute("SET ROLE pilothouse_app")
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            connection.execute("UPDATE journal_event SET type = 'x'")


def test_dumps_are_small():
    assert [path.name for path in DUMPS if path.stat().st_size > 400_000] == []
