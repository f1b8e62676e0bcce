"""The tail process itself: one holds, others wait; who is killed loses nothing; what it seals can be verified."""

import os
import subprocess
import sys
import time
from contextlib import ExitStack
from pathlib import Path

import pytest
from django.db import connection

from apps.journal import selectors
from apps.journal.models import Checkpoint, Event, TailEntry
from apps.journal.services import SealFolder, catch_up, operation, verify_journal
from apps.journal.services.tail import LOCK
from apps.kernel.types import system_actor

ROOT = Path(__file__).resolve().parents[3]
HELD = """
SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND granted AND classid = %s AND objid = %s
AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
"""
CUT = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
WITHIN_S = 60


def wait_until(holds, what):
    ends = time.monotonic() + WITHIN_S
    while not holds():
        assert time.monotonic() < ends, f"not within {WITHIN_S} s: {what}"
        time.sleep(0.1)


@pytest.fixture
def tails(transactional_db, tmp_path):
    """`tails()` starts a tail process on the test's database."""
    given = connection.settings_dict
    url = f"postgresql://{given['USER']}:{given['PASSWORD']}@{given['HOST']}:{given['PORT']}/{given['NAME']}"
    environment = os.environ | {
        "DJANGO_SETTINGS_MODULE": "console.settings.embedded",
        "PILOTHOUSE_DATABASE_URL": url,
        "PILOTHOUSE_DATA": str(tmp_path),
        "PILOTHOUSE_POOL_SIZE": "3",
    }
    with ExitStack() as running:

        def start():
            command = [sys.executable, "manage.py", "journal", "tail"]
            process = subprocess.Popen(command, cwd=ROOT, env=environment, stderr=subprocess.DEVNULL)
            running.callback(process.wait, 30)
            running.callback(process.kill)
            return process

        yield start


def held():
    with connection.cursor() as cursor:
        cursor.execute(HELD, [LOCK >> 32, LOCK & 0xFFFFFFFF])
        return bool(cursor.fetchone()[0])


def write(counted, *numbers):
    with operation(system_actor("test"), "test.count") as unit:
        unit.append("test.stream:a", [counted(number=number) for number in numbers])


def all_numbered():
    return TailEntry.objects.count() == Event.objects.count()


def test_another_takes_over_from_who_is_killed_and_everything_stays_sealed(tails, counted, tmp_path):
    first = tails()
    wait_until(held, "the first holds the tail")
    with pytest.raises(RuntimeError, match="a tail process is running"):
        catch_up()
    second = tails()
    for number in range(20):
        write(counted, number)
    wait_until(all_numbered, "numbered by the first")
    first.kill()
    for number in range(20, 40):
        write(counted, number)
    wait_until(all_numbered, "numbered by the second")
    assert selectors.tail_lag_s() < 5
    wait_until(lambda: Checkpoint.objects.filter(size=40).exists(), "sealed")
    second.terminate()
    assert second.wait(30) == 0
    assert list(TailEntry.objects.order_by("number").values_list("number", flat=True)) == list(range(1, 41))
    found = verify_journal(SealFolder(tmp_path / "seal"))
    assert (found.faults, found.sealed) == ((), 40)


def test_goes_on_after_its_connection_was_cut(tails, counted):
    tails()
    wait_until(held, "the tail is held")
    write(counted, 1)
    wait_until(all_numbered, "numbered")
    with connection.cursor() as cursor:  # as when PostgreSQL is started again
        cursor.execute(CUT)
    write(counted, 2, 3)
    wait_until(all_numbered, "numbered over a new connection")
