"""What keeps the journal true, each switched off in turn."""

import importlib
from typing import Any

from tests.guards import guard
from tests.mutations import Mutation

_APPEND = "tests/integration/journal/test_append.py::"
_KEYS = "tests/integration/journal/test_operation.py::"
_TAIL = "tests/integration/journal/test_tail.py::"
_REACT = "tests/integration/journal/test_react.py::"
_TAMPER = "tests/integration/journal/test_tampering.py::"
_REPLAY = "tests/integration/journal/test_replay.py::"
_PAGE = "tests/integration/journal/test_page.py::"
_FAST = "tests/integration/journal/test_fast.py::"
_CHANGE = "tests/integration/journal/test_insert_only.py::"


def _without(statement: str, name: str = "0002_insert_only", instead: str = "") -> None:
    """Leave out one part of the SQL of a migration."""
    migration = importlib.import_module(f"apps.journal.migrations.{name}").Migration
    operation = migration.operations[-1]
    if statement not in operation.sql:
        raise ValueError(f"the migration no longer says {statement!r}")
    operation.sql = operation.sql.replace(statement, instead)


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


@guard("journal tail insert-only")
def _tail_trigger() -> None:
    _without(
        "CREATE TRIGGER journal_tail_insert_only BEFORE UPDATE OR DELETE ON journal_tail\n"
        "    FOR EACH ROW EXECUTE FUNCTION journal_refuse_change();",
        "0003_tail",
    )


@guard("journal tail grant")
def _tail_grant() -> None:
    _without("REVOKE UPDATE, DELETE, TRUNCATE ON journal_tail FROM pilothouse_app;", "0003_tail")


@guard("journal fast head lock")
def _fast_lock() -> None:
    _without("WHERE name = stream_name FOR UPDATE", "0005_append", "WHERE name = stream_name")


@guard("journal fast key")
def _fast_key() -> None:
    _without("RAISE EXCEPTION 'the key was used before' USING ERRCODE = 'PHJ01';", "0005_append", "NULL;")


@guard("journal tail cut-off")
def _cut_off() -> None:
    """A position that was passed by is never looked at again."""
    from apps.journal.services import sequencing

    sequencing._new_holes = lambda _top, _numbered: []
    sequencing._HOLES = "SELECT 1, 1 WHERE false AND %s::bigint = %s::bigint"


@guard("journal tail waits for writers")
def _writers() -> None:
    """A position that was passed by is looked at once more, and then given up, whoever still writes."""
    from apps.journal.services import sequencing

    sequencing._WRITERS = "SELECT NULL WHERE false"


@guard("journal cursor lock")
def _cursor_lock() -> None:
    from apps.journal.models import Cursor
    from apps.journal.services import reacting

    locked = reacting._locked

    def unlocked(reaction: Any, last: int) -> Any:
        locked_once = Cursor.objects.filter(name=reaction.name).first()
        return locked_once or locked(reaction, last)

    reacting._locked = unlocked


@guard("journal sealed leaves")
def _leaves() -> None:
    from apps.journal.services import walking

    walking.Walk._leaf = lambda *_: None  # type: ignore[method-assign,assignment]


@guard("journal checkpoint beyond the end")
def _beyond() -> None:
    from apps.journal.services import walking

    walking.Walk._end = lambda _: None  # type: ignore[method-assign,assignment]


@guard("journal chain in a walk")
def _walk() -> None:
    from apps.journal.services import walking

    walking.Walk._chain = lambda *_: None  # type: ignore[method-assign,assignment]


@guard("journal seal at a start")
def _seal_at_start() -> None:
    from apps.journal.lifecycle.tree import Frontier
    from apps.journal.services.sealing import Sealer, leaves

    def believing(self: Any, last: Any, _note: str) -> Frontier:
        made = Frontier()
        for leaf in leaves(self.connection, 0, last.size):
            made.add(leaf)
        return made

    Sealer._frontier_of = believing  # type: ignore[method-assign]


@guard("journal signature")
def _signature() -> None:
    from apps.journal.services import verifying

    verifying.verify = lambda _note, keys: keys[0]  # type: ignore[assignment]


@guard("journal replay writes nothing live")
def _replay() -> None:
    from apps.journal.services import replaying

    class Settings:
        """Everything but the statement that forbids writes."""

        def __init__(self, cursor: Any) -> None:
            self.cursor = cursor

        def __enter__(self) -> "Settings":
            self.opened = self.cursor.__enter__()
            return self

        def __exit__(self, *what: object) -> None:
            self.cursor.__exit__(*what)

        def execute(self, statement: str, *values: Any) -> None:
            if "transaction_read_only" not in statement:
                self.opened.execute(statement, *values)

        def __getattr__(self, name: str) -> Any:
            return getattr(self.opened, name)

    class Connection:
        """The connection, whose cursors do not forbid writes."""

        def cursor(self) -> Settings:
            return Settings(real.cursor())

        def __getattr__(self, name: str) -> Any:
            return getattr(real, name)

    real = replaying.connection
    replaying.connection = Connection()  # type: ignore[assignment]


@guard("journal export of one site")
def _export() -> None:
    from apps.journal.services import exporting

    exporting._EVENTS = exporting._EVENTS.replace("event.site_id = %s)", "%s::uuid IS NOT NULL)")


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
    Mutation("journal tail insert-only", f"{_CHANGE}test_the_trigger_guards_the_tail_too", migrates=True),
    Mutation("journal tail grant", f"{_CHANGE}test_the_runtime_role_has_no_such_right", migrates=True),
    Mutation("journal fast head lock", f"{_FAST}test_both_ways_at_once_leave_no_gap", migrates=True),
    Mutation("journal fast key", f"{_FAST}test_a_real_service_repeats_safely", migrates=True),
    Mutation("journal tail cut-off", f"{_TAIL}test_who_stands_still_is_waited_for_by_nobody_and_not_skipped"),
    Mutation("journal tail cut-off", f"{_TAIL}test_racing_writers_lose_nothing_and_keep_the_order_of_streams"),
    Mutation("journal tail waits for writers", f"{_TAIL}test_who_stands_still_is_waited_for_by_nobody_and_not_skipped"),
    Mutation("journal cursor lock", f"{_REACT}test_two_at_once_still_have_each_effect_once"),
    Mutation("journal sealed leaves", f"{_TAMPER}test_a_stream_rewritten_with_its_head_is_found_by_what_was_sealed"),
    Mutation("journal checkpoint beyond the end", f"{_TAMPER}test_a_tail_deleted_with_its_heads_is_found"),
    Mutation("journal sealed leaves", f"{_TAMPER}test_everything_rewritten_and_signed_again_is_found"),
    Mutation("journal chain in a walk", f"{_TAMPER}test_an_edit_is_found_and_its_place_named"),
    Mutation("journal seal at a start", f"{_TAMPER}test_what_was_sealed_is_never_sealed_otherwise"),
    Mutation("journal signature", f"{_TAMPER}test_what_is_kept_outside_may_not_be_changed_either"),
    Mutation("journal replay writes nothing live", f"{_REPLAY}test_a_projection_that_writes_elsewhere_is_stopped"),
    Mutation("journal export of one site", f"{_PAGE}test_an_export_holds_and_tells_nothing_of_other_sites"),
    Mutation("journal stale check", f"{_APPEND}test_a_stale_caller_changes_nothing"),
]
