"""What keeps the journal true, each switched off in turn."""

import importlib
from typing import Any

from tests.guards import guard
from tests.mutations import Mutation

_APPEND = "tests/integration/journal/test_append.py::"
_KEYS = "tests/integration/journal/test_operation.py::"
_CHANGE = "tests/integration/journal/test_insert_only.py::"


def _without(statement: str) -> None:
    """Leave out one part of the migration that protects the table."""
    migration = importlib.import_module("apps.journal.migrations.0002_insert_only").Migration
    operation = migration.operations[0]
    if statement not in operation.sql:
        raise ValueError(f"the migration no longer says {statement!r}")
    operation.sql = operation.sql.replace(statement, "")


@guard("journal trigger")
def _trigger() -> None:
    _without(
        "CREATE TRIGGER journal_event_insert_only BEFORE UPDATE OR DELETE ON journal_event\n"
        "    FOR EACH ROW EXECUTE FUNCTION journal_refuse_change();"
    )


@guard("journal truncate trigger")
def _truncate_trigger() -> None:
    _without(
        "CREATE TRIGGER journal_event_no_truncate BEFORE TRUNCATE ON journal_event\n"
        "    FOR EACH STATEMENT EXECUTE FUNCTION journal_refuse_change();"
    )


@guard("journal missing grant")
def _grant() -> None:
    _without("REVOKE UPDATE, DELETE, TRUNCATE ON journal_event FROM pilothouse_app;")


@guard("journal idempotency key")
def _key() -> None:
    from apps.journal.services import keys

    keys.take = lambda *_: (None, None)  # type: ignore[assignment]


@guard("journal idempotency request check")
def _request() -> None:
    from apps.journal.services import keys

    keys.digest_of_request = lambda _: b""


@guard("journal idempotency for strangers")
def _stranger() -> None:
    from apps.journal.services import keys

    keys.check = lambda *_: None


@guard("journal head lock")
def _head_lock() -> None:
    from apps.journal.services import appending

    appending._LOCK = appending._LOCK.replace(" FOR UPDATE", "")


@guard("journal lock order")
def _lock_order() -> None:
    from apps.journal.services import appending

    appending.lock = lambda _streams: None


@guard("journal digest")
def _digest() -> None:
    from apps.journal.lifecycle import chain

    chain.recompute = lambda event, _previous: event.digest


@guard("journal payload hygiene")
def _hygiene() -> None:
    from apps.journal.lifecycle import chain

    def anything(value: Any, _field: str) -> Any:
        return value

    chain._number = anything
    chain._text = anything


@guard("journal stale check")
def _stale() -> None:
    from apps.journal.services import appending

    append = appending.append

    def unchecked(*args: Any, expected: int | None = None, **named: Any) -> Any:
        return append(*args, **named)

    appending.append = unchecked  # type: ignore[assignment]


CASES = [
    Mutation("journal trigger", f"{_CHANGE}test_the_trigger_refuses_even_a_superuser", migrates=True),
    Mutation("journal trigger", f"{_CHANGE}test_the_trigger_refuses_the_owner", migrates=True),
    Mutation("journal truncate trigger", f"{_CHANGE}test_the_trigger_refuses_even_a_superuser", migrates=True),
    Mutation("journal missing grant", f"{_CHANGE}test_the_runtime_role_has_no_such_right", migrates=True),
    Mutation("journal idempotency key", f"{_KEYS}test_the_same_request_is_done_once_and_answered_twice"),
    Mutation("journal idempotency key", f"{_KEYS}test_the_same_request_eight_times_at_once_is_done_once"),
    Mutation("journal idempotency request check", f"{_KEYS}test_another_request_under_the_same_key_is_a_conflict"),
    Mutation("journal idempotency for strangers", f"{_KEYS}test_strangers_share_no_keys"),
    Mutation("journal head lock", f"{_APPEND}test_eight_writers_on_one_stream_leave_no_gap"),
    Mutation("journal lock order", f"{_APPEND}test_two_streams_in_opposite_order_never_wait_in_a_ring"),
    Mutation("journal digest", f"{_CHANGE}test_who_switches_the_trigger_off_and_edits_is_found"),
    Mutation("journal payload hygiene", "tests/property/test_journal_payloads.py"),
    Mutation("journal stale check", f"{_APPEND}test_a_stale_caller_changes_nothing"),
]
