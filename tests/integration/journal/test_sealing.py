"""Sealing from the outside: asked for now, started again, and which role a replay speaks as."""

import json

import pytest
from django.db import connection

from apps.journal.models import Checkpoint
from apps.journal.services import (
    SealFolder,
    catch_up,
    export_lines,
    operation,
    restart_sealing,
    seal_now,
    use_owner_role,
    verify_journal,
)
from apps.kernel.errors import Conflict
from apps.kernel.types import system_actor


@pytest.fixture
def folder(tmp_path):
    return SealFolder(tmp_path / "seal")


def write(counted, *numbers):
    with operation(system_actor("test"), "test.count") as unit:
        unit.append("test.stream:a", [counted(number=number) for number in numbers])


@pytest.mark.django_db(transaction=True)
def test_seals_at_once_and_only_what_is_new(counted, folder):
    assert seal_now(folder, within_s=5) is None
    with pytest.raises(Conflict):
        export_lines()
    write(counted, 1, 2)
    first = seal_now(folder, within_s=5)
    assert seal_now(folder, within_s=5) == first == folder.last_note()
    write(counted, 3)
    assert seal_now(folder, within_s=5) != first
    assert [row.size for row in Checkpoint.objects.order_by("size")] == [2, 3]
    kinds = [next(iter(json.loads(line))) for line in export_lines()]
    assert kinds == ["export", "event", "event", "checkpoint", "event", "checkpoint"]


@pytest.mark.django_db(transaction=True)
def test_files_are_private_and_survive_a_torn_end(counted, folder):
    write(counted, 1)
    seal_now(folder, within_s=5)
    assert {path.stat().st_mode & 0o777 for path in folder.path.iterdir()} == {0o600}
    assert folder.path.stat().st_mode & 0o777 == 0o700
    with folder.checkpoints.open("ab") as file:  # a crash in the middle of a line, and of a hash
        file.write(b'{"note": "pilo')
    with folder.leaves.open("ab") as file:
        file.write(b"half")
    write(counted, 2)
    seal_now(folder, within_s=5)
    assert len(list(folder.notes())) == 2
    assert verify_journal(folder).faults == ()


@pytest.mark.django_db(transaction=True)
def test_hashes_that_were_lost_are_made_again_and_compared(counted, folder):
    write(counted, 1, 2)
    seal_now(folder, within_s=5)
    folder.leaves.unlink()
    write(counted, 3)
    seal_now(folder, within_s=5)
    assert folder.leaf_count() == 3
    assert verify_journal(folder).faults == ()


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("damage", [lambda key: key.chmod(0o640), lambda key: key.write_text("no key")])
def test_a_key_that_others_may_read_or_that_is_damaged_signs_nothing(counted, folder, damage):
    write(counted, 1)
    seal_now(folder, within_s=5)
    damage(folder.key)
    write(counted, 2)
    with pytest.raises(Exception, match=r"may be read by others|is damaged"):
        catch_up(seal=folder)
    assert len(list(folder.notes())) == 1


@pytest.mark.django_db(transaction=True)
def test_starts_again_beside_what_it_was(counted, folder):
    write(counted, 1)
    seal_now(folder, within_s=5)
    restart_sealing(folder, why="a test")
    assert folder.last_note() is None
    write(counted, 2)
    seal_now(folder, within_s=5)
    assert [len(list(part.notes())) for part in (folder, SealFolder(next(folder.path.glob("before-*"))))] == [2, 1]


@pytest.mark.django_db(transaction=True)
def test_speaks_as_another_role_from_then_on():
    was = dict(connection.settings_dict)
    try:
        use_owner_role({"OPTIONS": {**was["OPTIONS"], "application_name": "as owner"}})
        with connection.cursor() as cursor:
            cursor.execute("SHOW application_name")
            assert cursor.fetchone() == ("as owner",)
    finally:
        use_owner_role(was)
