"""A journal that was dumped and restored elsewhere, where transactions count from the start again, goes on as it was."""

import subprocess

import psycopg
import pytest
from django.db import connection

from apps.journal.services import SealFolder, catch_up
from apps.journal.services.sealing import Sealer
from apps.journal.services.sequencing import Sequencer
from console.embedded import postgres
from console.supervisor.backup import client_environment
from tests.integration.journal.tampering import sealed_journal, write
from tests.integration.journal.test_tail import open_writer

COPIED = """
INSERT INTO journal_event (id, stream, sequence, type, version, payload, actor_kind, actor_name, correlation_id, recorded_at,
    previous, digest)
SELECT gen_random_uuid(), %s, 1, type, version, payload, actor_kind, actor_name, correlation_id, recorded_at, previous, digest
FROM journal_event LIMIT 1
"""


@pytest.fixture
def restored(transactional_db):
    """`restored()` dumps the test's database and restores it beside; its address."""
    settings = connection.settings_dict
    url = f"postgresql://{settings['USER']}:{settings['PASSWORD']}@{settings['HOST']}:{settings['PORT']}/"
    name = f"{settings['NAME']}_restored"
    with psycopg.connect(url + "postgres", autocommit=True) as server:

        def restore():
            server.execute(f'CREATE DATABASE "{name}"')
            dump = subprocess.run(
                [postgres.binaries() / "pg_dump", "--format=custom"],
                env=client_environment(url + settings["NAME"]),
                capture_output=True,
                check=True,
            )
            subprocess.run(
                [postgres.binaries() / "pg_restore", "--exit-on-error", f"--dbname={name}"],
                env=client_environment(url + name),
                input=dump.stdout,
                capture_output=True,
                check=True,
            )
            return url + name

        yield restore
        server.execute(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)')


def test_goes_on_where_the_dump_was_made(restored, counted, tmp_path):
    sealed_journal(counted, SealFolder(tmp_path / "seal"))
    with connection.cursor() as cursor:  # many transactions, which a new server has not had
        cursor.execute("DO $$ BEGIN FOR i IN 1 .. 2000 LOOP PERFORM pg_current_xact_id(); COMMIT; END LOOP; END $$")
    write(counted, "test.stream:unnumbered", 1)
    with open_writer(counted, "test.stream:late") as end:
        write(counted, "test.stream:unnumbered", 2)
        address = restored()
        end()
    with psycopg.connect(address, autocommit=True) as opened:
        sequencer = Sequencer(opened)
        sequencer.load()
        assert [(one.number, one.stream, one.sequence) for one in sequencer.step()] == [
            (13, "test.stream:unnumbered", 1),
            (14, "test.stream:unnumbered", 2),
        ]
        opened.execute(COPIED, ["test.stream:new"])
        assert [(one.number, one.stream) for one in sequencer.step()] == [(15, "test.stream:new")]
        sequencer.step()
        assert sequencer.holes == []
        # Without the folder of the seal, which is no part of a dump: what was signed is taken over, under a new key.
        folder = SealFolder(tmp_path / "elsewhere")
        sealer = Sealer(opened, folder)
        sealer.load(sequencer.number)
        sealer.seal()
        assert len(folder.known_keys()) == 2
        assert len(list(folder.notes())) == 4
    catch_up()
