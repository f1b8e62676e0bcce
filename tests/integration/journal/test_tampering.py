"""Attack 50: somebody with every right on the database changes facts; `verify` names the first that is not as it was."""

import json

import pytest

from apps.journal.models import Checkpoint, TailEntry
from apps.journal.services import SealFault, SealFolder, catch_up, operation, verify_journal
from apps.kernel.types import system_actor
from tests.integration.journal.tampering import (
    as_superuser,
    check,
    delete_tail,
    export,
    rewrite,
    script,
    sealed_journal,
    write,
)

NUMBER_OF = "(SELECT position FROM journal_tail WHERE number = {})"


@pytest.fixture
def folder(tmp_path):
    return SealFolder(tmp_path / "seal")


@pytest.fixture
def journal(transactional_db, counted, folder):
    """Twelve sealed events: numbers 1 to 4, 5 to 8 and 9 to 12 are a a b c each."""
    sealed_journal(counted, folder)
    return folder


def first(folder):
    found = verify_journal(folder).faults
    return (found[0].number, found[0].stream, found[0].sequence, found[0].reason) if found else None


def test_a_whole_journal_holds(journal):
    found = verify_journal(journal)
    assert found.faults == ()
    assert (found.events, found.streams, found.sealed, found.checkpoints) == (12, 3, 12, 3)
    assert [one.number for one in TailEntry.objects.order_by("number")] == list(range(1, 13))


def test_what_is_not_sealed_yet_is_verified_too(journal, counted):
    write(counted, "test.stream:d", 1, 2)
    assert verify_journal(journal).faults == ()
    assert verify_journal(journal).events == 14
    as_superuser("UPDATE journal_event SET payload = '{}' WHERE stream = 'test.stream:d' AND sequence = 2")
    assert first(journal) == (None, "test.stream:d", 2, "its content does not match its digest")


EDITS = {
    "one field": ("UPDATE journal_event SET actor_name = 'x' WHERE position = " + NUMBER_OF.format(6), 6, "its content"),
    "a time": (
        "UPDATE journal_event SET recorded_at = recorded_at + interval '1us' WHERE position = " + NUMBER_OF.format(1),
        1,
        "its content",
    ),
    "deleted": ("DELETE FROM journal_event WHERE position = " + NUMBER_OF.format(5), 5, "in the tail and not in the journal"),
    "deleted with its number": (
        "DELETE FROM journal_event WHERE position = "
        + NUMBER_OF.format(5)
        + "; DELETE FROM journal_tail WHERE number = 5; UPDATE journal_tail SET number = -number WHERE number > 5;"
        "UPDATE journal_tail SET number = -number - 1 WHERE number < 0; UPDATE journal_tail_state SET number = 11",
        5,
        "sequence 3 is missing",
    ),
    "all deleted": (
        "TRUNCATE journal_event, journal_stream, journal_tail, journal_tail_state, journal_checkpoint",
        1,
        "sealed",
    ),
    "reordered in the tail": (
        "UPDATE journal_tail SET number = CASE number WHEN 7 THEN -8 ELSE -7 END WHERE number IN (7, 8);"
        "UPDATE journal_tail SET number = -number WHERE number < 0",
        7,
        "not what was sealed",
    ),
    "moved": (
        "UPDATE journal_event SET position = position + 1000 WHERE position = "
        + NUMBER_OF.format(12)
        + "; UPDATE journal_tail SET position = position + 1000 WHERE number = 12",
        12,
        "not what was sealed",
    ),
    "a number taken away": (
        "DELETE FROM journal_tail WHERE number = 4",
        4,
        "no event of this number",
    ),
    "put in": (
        "INSERT INTO journal_event (position, id, stream, sequence, type, version, payload, actor_kind, actor_name, "
        "correlation_id, recorded_at, previous, digest) SELECT -1, gen_random_uuid(), 'test.stream:z', 1, type, version, "
        "payload, actor_kind, actor_name, correlation_id, recorded_at, previous, digest FROM journal_event LIMIT 1",
        None,
        "has no number",
    ),
}


@pytest.mark.parametrize("name", EDITS)
def test_an_edit_is_found_and_its_place_named(journal, name):
    statement, number, reason = EDITS[name]
    as_superuser(statement)
    found = first(journal)
    assert found is not None
    assert found[0] == number
    assert reason in found[3]


def test_a_stream_rewritten_with_its_head_is_found_by_what_was_sealed(journal):
    rewrite("test.stream:b", after=1)
    assert verify_journal(None).faults[0].reason.startswith("events 5 to 8 are not those that were sealed")
    assert first(journal) == (7, "test.stream:b", 2, "it is not what was sealed")
    assert [fault.number for fault in verify_journal(journal).faults] == [7, 11]


def test_everything_rewritten_and_signed_again_is_found(journal, tmp_path, counted):
    """With another key, since the one that signed is nowhere in the database."""
    held = journal.last_note()
    for stream in ("test.stream:a", "test.stream:b", "test.stream:c"):
        rewrite(stream)
    Checkpoint.objects.all().delete()
    forged = SealFolder(tmp_path / "forged")
    catch_up(seal=forged)
    assert verify_journal(forged).faults == ()
    assert first(journal) == (1, "test.stream:a", 1, "it is not what was sealed")
    against = verify_journal(forged, against=[held], keys=journal.known_keys())
    assert against.faults[0].reason.startswith("events 1 to 12 are not those that were sealed")


@pytest.mark.parametrize("last", [11, 8, 1])
def test_a_tail_deleted_with_its_heads_is_found(journal, last):
    delete_tail(last)
    assert verify_journal(None).faults == ()  # the database itself shows nothing
    number, _, _, reason = first(journal)
    assert number == last + 1
    assert reason.startswith("it is not there, and ")


def test_what_is_kept_outside_may_not_be_changed_either(journal):
    text = journal.checkpoints.read_text().splitlines()
    note = json.loads(text[1])["note"]
    journal.checkpoints.write_text("\n".join([text[0], json.dumps({"note": note.replace("\n8\n", "\n9\n")}), text[2]]) + "\n")
    assert "the signature of the checkpoint is wrong" in first(journal)[3]
    journal.checkpoints.write_text("\n".join(text) + "\n")
    leaves = bytearray(journal.leaves.read_bytes())
    leaves[32 * 2] ^= 1
    journal.leaves.write_bytes(leaves)
    assert first(journal)[:1] == (3,)
    assert "hash kept outside the database was changed" in first(journal)[3]


@pytest.mark.parametrize(
    "tamper", [lambda: delete_tail(7), lambda: rewrite("test.stream:a"), lambda: as_superuser(EDITS["all deleted"][0])]
)
def test_what_was_sealed_is_never_sealed_otherwise(journal, counted, tamper):
    tamper()
    as_superuser("UPDATE journal_checkpoint SET frontier = '', root = ''")
    with operation(system_actor("test"), "test.count") as unit:
        unit.append("test.stream:new", [counted(number=1)])
    notes = list(journal.notes())
    with pytest.raises(SealFault, match=r"sealed"):
        catch_up(seal=journal)
    assert list(journal.notes()) == notes


def test_an_export_is_checked_by_a_script_of_its_own(journal, tmp_path, counted):
    file = export(tmp_path / "export.jsonl")
    code, words = check(file)
    assert (code, words.splitlines()[0]) == (0, "12 events in 3 streams hold, of 12 that are sealed.")
    assert words.splitlines()[1].startswith("signed by pilothouse.journal/")
    held = tmp_path / "held.txt"
    held.write_text(journal.last_note())
    write(counted, "test.stream:a", 7)
    catch_up(seal=journal)
    later = export(tmp_path / "later.jsonl")
    assert check(later, "--checkpoint", held)[0] == 0
    assert check(later, "--checkpoint", file)[0] == 0


@pytest.mark.parametrize(
    ("tamper", "says"),
    [
        (lambda: rewrite("test.stream:b", after=1), "events 5 to 8 are not those that were sealed"),
        (lambda: delete_tail(9), "event 9 is not there: 12 events were sealed"),
        (lambda: as_superuser(EDITS["one field"][0]), "event 6 (test.stream:a 4): its content does not match its digest"),
        (lambda: as_superuser(EDITS["deleted"][0]), "event 5 is missing"),
    ],
)
def test_a_script_of_its_own_finds_it_with_an_earlier_checkpoint(journal, tmp_path, tamper, says):
    held = export(tmp_path / "held.jsonl")
    tamper()
    code, words = check(export(tmp_path / "now.jsonl"), "--checkpoint", held)
    assert code == 1
    assert says in words


def test_an_export_cannot_be_edited(journal, tmp_path):
    module = script()
    file = export(tmp_path / "export.jsonl")
    lines = file.read_text().split("\n")[:-1]
    module.Check([], []).run(module.lines_of(str(file)))
    for place, line in enumerate(lines):
        altered = line.replace("test", "Test").replace("sealed", "Sealed").replace('"size":12', '"size":13')
        # A checkpoint in between may be left out or told twice: the events under it are still held by the last one.
        between = "checkpoint" in line and place != len(lines) - 1
        for edited in ([altered],) if between else ([altered], [], [line, line]):
            if line.startswith('{"checkpoint"') and edited == [line, line]:
                continue
            changed = tmp_path / "changed.jsonl"
            changed.write_text("\n".join([*lines[:place], *edited, *lines[place + 1 :]]) + "\n")
            with pytest.raises(module.Bad):
                module.Check([], []).run(module.lines_of(str(changed)))
