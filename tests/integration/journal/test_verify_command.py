"""`manage.py journal verify` says what holds and exits by it."""

import io
import json

import pytest
from django.core.management import call_command
from django.db import connection

from apps.journal.services import operation
from apps.kernel.types import system_actor


def verify(*words):
    out = io.StringIO()
    code = 0
    try:
        call_command("journal", "verify", *words, stdout=out)
    except SystemExit as ended:
        code = ended.code
    return code, out.getvalue()


@pytest.fixture
def written(counted, transactional_db):
    with operation(system_actor("test"), "test.count") as unit:
        unit.append("test.stream:a", [counted(number=number) for number in (1, 2, 3)])


def test_a_whole_journal(written):
    assert verify() == (0, "3 events in 1 streams: every stream holds.\n")
    assert verify("--json")[0] == 0


def test_an_edited_journal(written):
    with connection.cursor() as cursor:
        cursor.execute("SET session_replication_role = replica")
        cursor.execute("DELETE FROM journal_event WHERE sequence = 2")
        cursor.execute("SET session_replication_role = DEFAULT")
    code, text = verify()
    assert code == 1
    assert text == "test.stream:a 2: sequence 2 is missing\n2 events in 1 streams: 1 of 1 streams do not hold.\n"
    code, text = verify("--json")
    assert code == 1
    assert json.loads(text) == {
        "streams": 1,
        "events": 2,
        "faults": [{"stream": "test.stream:a", "sequence": 2, "reason": "sequence 2 is missing"}],
    }
