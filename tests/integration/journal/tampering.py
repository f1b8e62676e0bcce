"""What somebody with every right on the database may do to a journal, and a journal to do it to."""

import importlib.util
import subprocess
import sys
from pathlib import Path

from django.db import connection

from apps.journal.lifecycle.chain import GENESIS, recompute
from apps.journal.models import Event
from apps.journal.selectors import as_recorded
from apps.journal.services import catch_up, export_lines, operation
from apps.kernel.types import system_actor

ROOT = Path(__file__).resolve().parents[3]
SCRIPT = ROOT / "tools" / "check_proofs.py"
ACTOR = system_actor("test")


def write(counted, stream, *numbers, site_id=None):
    """Events of one stream."""
    with operation(ACTOR, "test.count") as unit:
        unit.append(stream, [counted(number=number, note="é\u2028\x7f") for number in numbers], site_id=site_id)


def sealed_journal(counted, folder, sites=(None, None)):
    """Twelve events in three streams under three checkpoints; `a` and `c` are of the first site, `b` of the second."""
    for part in range(3):
        write(counted, "test.stream:a", part, part + 10, site_id=sites[0])
        write(counted, "test.stream:b", part, site_id=sites[1])
        write(counted, "test.stream:c", part, site_id=sites[0])
        catch_up(seal=folder)


def as_superuser(*statements):
    """Statements with every trigger switched off."""
    with connection.cursor() as cursor:
        cursor.execute("SET session_replication_role = replica")
        for statement in statements:
            cursor.execute(statement)
        cursor.execute("SET session_replication_role = DEFAULT")


def rewrite(stream, after=0, change="payload || '{\"number\": 99}'"):
    """Change every event of a stream after a sequence, and make the digests, links and head right again."""
    as_superuser(f"UPDATE journal_event SET payload = {change} WHERE stream = '{stream}' AND sequence > {after}")
    previous = GENESIS
    for event in Event.objects.filter(stream=stream).order_by("sequence"):
        digest = recompute(as_recorded(event), previous)
        as_superuser(
            f"UPDATE journal_event SET previous = '\\x{previous.hex()}', digest = '\\x{digest.hex()}' "
            f"WHERE position = {event.position}"
        )
        previous = digest
    as_superuser(f"UPDATE journal_stream SET digest = '\\x{previous.hex()}' WHERE name = '{stream}'")


def delete_tail(last):
    """Forget every event after a number, with all that could show it: numbers, heads, the tail's state, checkpoints."""
    rest = f"SELECT position FROM journal_tail WHERE number > {last}"
    as_superuser(
        f"DELETE FROM journal_event WHERE position IN ({rest})",
        f"DELETE FROM journal_tail WHERE number > {last}",
        "DELETE FROM journal_stream s WHERE NOT EXISTS (SELECT FROM journal_event e WHERE e.stream = s.name)",
        "UPDATE journal_stream s SET (sequence, digest) = (SELECT e.sequence, e.digest FROM journal_event e "
        "WHERE e.stream = s.name ORDER BY e.sequence DESC LIMIT 1)",
        f"UPDATE journal_tail_state SET number = {last}, horizon = (SELECT max(position) FROM journal_tail)",
        f"DELETE FROM journal_checkpoint WHERE size > {last}",
    )


def export(path, **what):
    """An export in a file."""
    path.write_text("".join(export_lines(**what)))
    return path


def check(*words):
    """Run the script as an auditor does, away from the tree; exit code and words."""
    done = subprocess.run(
        [sys.executable, "-I", str(SCRIPT), *map(str, words)], capture_output=True, text=True, timeout=60, check=False, cwd="/"
    )
    return done.returncode, done.stdout + done.stderr


def script():
    """The script as a module."""
    spec = importlib.util.spec_from_file_location("check_proofs", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
