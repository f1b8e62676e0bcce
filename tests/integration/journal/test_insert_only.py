"""Nobody changes a recorded fact: not the runtime role, not the owner, and a superuser is found out."""

import psycopg
import pytest
from django.db import DatabaseError, connection, transaction

from apps.journal import selectors
from apps.journal.models import Event, TailEntry
from apps.journal.services import catch_up, operation
from apps.journal.types import ChainFault
from apps.kernel.types import system_actor

STREAM = "test.stream:a"
CHANGES = (
    """UPDATE journal_event SET payload = '{"number": 99}' WHERE sequence = 2""",
    "UPDATE journal_event SET actor_name = actor_name",
    "DELETE FROM journal_event WHERE sequence = 3",
    "TRUNCATE journal_event",
    "TRUNCATE journal_event, journal_stream CASCADE",
)
OF_THE_TAIL = (
    "UPDATE journal_tail SET number = number + 10",
    "DELETE FROM journal_tail",
    "TRUNCATE journal_tail",
)
INSERT = """
INSERT INTO journal_event (id, stream, sequence, type, version, payload, actor_kind, actor_name, correlation_id,
    recorded_at, previous, digest)
VALUES (gen_random_uuid(), %(stream)s, %(sequence)s, 'test.counted', 1, '{}', 'system', '', '', now(), '', '')
"""


@pytest.fixture
def written(counted, transactional_db):
    with operation(system_actor("test"), "test.count") as unit:
        unit.append(STREAM, [counted(number=number) for number in (1, 2, 3)])
    return selectors.events_after(STREAM, 0)


@pytest.mark.parametrize("statement", CHANGES)
def test_the_trigger_refuses_even_a_superuser(written, statement):
    with pytest.raises(DatabaseError, match="insert-only"), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(statement)
    assert selectors.events_after(STREAM, 0) == written


@pytest.mark.parametrize("statement", OF_THE_TAIL)
def test_the_trigger_guards_the_tail_too(written, statement):
    catch_up()
    with pytest.raises(DatabaseError, match="journal_tail is insert-only"), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(statement)
    assert list(TailEntry.objects.order_by("number").values_list("number", flat=True)) == [1, 2, 3]


@pytest.fixture
def runtime(deployed):
    """A connection as the role the console runs as, to a database made as in a deployment, holding three events."""
    with deployed("pilothouse_app") as connection_:
        for sequence in (1, 2, 3):
            connection_.execute(INSERT, {"stream": STREAM, "sequence": sequence})
        yield connection_
        connection_.rollback()


@pytest.mark.parametrize(
    "statement",
    [
        *CHANGES,
        *OF_THE_TAIL,
        "UPDATE journal_checkpoint SET size = size + 1",
        "DELETE FROM journal_stream",
        "ALTER TABLE journal_event DISABLE TRIGGER ALL",
        "DROP TRIGGER journal_event_insert_only ON journal_event",
        "SET session_replication_role = replica",
        "CREATE TABLE mine (id int)",
        "DROP TABLE journal_event",
    ],
)
def test_the_runtime_role_has_no_such_right(runtime, statement):
    with pytest.raises(psycopg.errors.InsufficientPrivilege) as refused, runtime.transaction():
        runtime.execute(statement)
    assert "insert-only" not in str(refused.value)  # the grant is missing; it is not the trigger that speaks
    assert runtime.execute("SELECT count(*) FROM journal_event").fetchone() == (3,)


@pytest.mark.parametrize("statement", CHANGES)
def test_the_trigger_refuses_the_owner(deployed, statement):
    with deployed("pilothouse") as owner:
        for sequence in (1, 2, 3):
            owner.execute(INSERT, {"stream": STREAM, "sequence": sequence})
        with pytest.raises(psycopg.errors.InsufficientPrivilege, match="insert-only"), owner.transaction():
            owner.execute(statement)
        owner.rollback()


@pytest.mark.parametrize(
    ("statement", "fault"),
    [
        (
            """UPDATE journal_event SET payload = '{"number": 99, "note": ""}' WHERE sequence = 2""",
            ChainFault(STREAM, 2, "its content does not match its digest"),
        ),
        (
            "UPDATE journal_event SET recorded_at = recorded_at - interval '1 microsecond' WHERE sequence = 1",
            ChainFault(STREAM, 1, "its content does not match its digest"),
        ),
        ("DELETE FROM journal_event WHERE sequence = 2", ChainFault(STREAM, 2, "sequence 2 is missing")),
        ("DELETE FROM journal_event WHERE sequence = 3", ChainFault(STREAM, 3, "the stream ends before its head")),
        ("DELETE FROM journal_event", ChainFault(STREAM, 1, "the stream ends before its head")),
        (
            "UPDATE journal_event SET sequence = CASE sequence WHEN 1 THEN 2 ELSE 1 END + 10 WHERE sequence < 3; "
            "UPDATE journal_event SET sequence = sequence - 10 WHERE sequence > 10",
            ChainFault(STREAM, 1, "does not follow the event before it"),
        ),
        (
            "UPDATE journal_event SET position = -position WHERE sequence = 3",
            ChainFault(STREAM, 3, "its position does not follow that of the event before it"),
        ),
        (
            "UPDATE journal_stream SET site_id = gen_random_uuid()",
            ChainFault(STREAM, 1, "the stream is filed under another site than its events"),
        ),
        ("DELETE FROM journal_stream", ChainFault(STREAM, 1, "the stream has no head")),
        ("UPDATE journal_stream SET sequence = 2", ChainFault(STREAM, 3, "the stream goes on past its head")),
    ],
)
def test_who_switches_the_trigger_off_and_edits_is_found(written, statement, fault):
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE journal_event DISABLE TRIGGER USER")
        try:
            cursor.execute(statement)
        finally:
            cursor.execute("ALTER TABLE journal_event ENABLE TRIGGER USER")
    assert list(selectors.chain_faults()) == [fault]
    assert list(selectors.chain_faults(chunk=1)) == [fault]


def test_an_untouched_journal_has_no_fault(written):
    assert list(selectors.chain_faults()) == []
    assert list(selectors.chain_faults(chunk=1)) == []
    assert Event.objects.count() == 3
