"""`manage.py journal verify` says what holds and exits by it."""

import io
import json

import pytest
from django.core.management import CommandError, call_command
from django.db import connection

from apps.accounts.models import Site
from apps.journal.events import registered
from apps.journal.models import Verification
from apps.journal.services import operation
from apps.kernel import clock
from apps.kernel.types import system_actor


@pytest.fixture(autouse=True)
def _own_seal(settings, tmp_path):
    settings.SEAL_FOLDER = tmp_path / "seal"


def unit_payload():
    return registered()["test.counted", 1](number=1)


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
    code, text = verify()
    assert code == 0
    assert text.startswith("3 events in 1 streams, 0 compared with 0 checkpoints: everything holds.")
    call_command("journal", "tail", "--once", stdout=io.StringIO())
    assert verify() == (0, "3 events in 1 streams, 3 compared with 1 checkpoints: everything holds.\n")
    assert verify("--json", "--record")[0] == 0
    [kept] = Verification.objects.all()
    assert (kept.events, kept.sealed, kept.faults, kept.is_seal_checked) == (3, 3, [], True)


def test_an_edited_journal(written):
    with connection.cursor() as cursor:
        cursor.execute("SET session_replication_role = replica")
        cursor.execute("DELETE FROM journal_event WHERE sequence = 2")
        cursor.execute("SET session_replication_role = DEFAULT")
    code, text = verify()
    assert code == 1
    assert text.startswith("test.stream:a 2: sequence 2 is missing\n2 events in 1 streams")
    code, text = verify("--json")
    assert code == 1
    assert json.loads(text)["faults"] == [
        {"reason": "sequence 2 is missing", "number": None, "stream": "test.stream:a", "sequence": 2}
    ]


def test_a_checkpoint_kept_elsewhere(written, tmp_path, settings):
    out = io.StringIO()
    call_command("journal", "seal", stdout=out)
    held = tmp_path / "held.txt"
    held.write_text(out.getvalue())
    settings.SEAL_FOLDER = tmp_path / "other"
    call_command("journal", "export", str(tmp_path / "export.jsonl"))
    for file in (held, tmp_path / "export.jsonl"):
        code, text = verify("--against", str(file))
        assert (code, text.splitlines()[0].partition(":")[0]) == (
            0,
            "3 events in 1 streams, 3 compared with 1 checkpoints",
        )
    held.write_text(out.getvalue().replace("\n3\n", "\n4\n"))
    assert verify("--against", str(held))[0] == 1
    held.write_text("no checkpoint")
    with pytest.raises(CommandError, match="cannot be compared"):
        verify("--against", str(held))


def test_the_seal_starts_again_only_when_told(written, settings):
    call_command("journal", "seal", stdout=io.StringIO())
    with connection.cursor() as cursor:
        cursor.execute("SET session_replication_role = replica")
        cursor.execute("TRUNCATE journal_event, journal_stream, journal_tail, journal_tail_state, journal_checkpoint")
        cursor.execute("SET session_replication_role = DEFAULT")
    with operation(system_actor("test"), "test.count") as unit:
        unit.append("test.stream:a", [unit_payload()])
    with pytest.raises(CommandError, match="were sealed"):
        call_command("journal", "seal", stdout=io.StringIO())
    call_command("journal", "seal", "--restart", "restored from last night", stdout=io.StringIO())
    assert verify()[0] == 0
    assert list(settings.SEAL_FOLDER.glob("before-*/checkpoints.jsonl"))


def test_replay_says_what_differs(transactional_db, settings):
    settings.OWNER_DATABASE = dict(connection.settings_dict)
    out = io.StringIO()
    call_command("journal", "replay", "--check", stdout=out, stderr=io.StringIO())
    assert "accounts_site  0 rows" in out.getvalue()
    Site.objects.create(slug="made-by-hand", name="Made by hand", created_at=clock.now())
    with pytest.raises(SystemExit):
        call_command("journal", "replay", "--check", stdout=out, stderr=io.StringIO())
    assert "DIFFERS  accounts_site  1 rows" in out.getvalue()
    assert "only in the table" in out.getvalue()
