"""What keeps Stops and alarms until people have seen to them, each switched off in turn."""

from dataclasses import replace
from typing import Any

from tests.guards import guard
from tests.mutations import Mutation

_CLEAR = "tests/integration/control/test_clear_stop.py::"
_CONFIRM = "tests/integration/control/test_confirm_stop.py::"
_RECORD = "tests/integration/control/test_record_stop.py::"
_SEE = "tests/integration/alarms/test_acknowledge.py::"


@guard("control: two people clear")
def _two_people() -> None:
    from apps.control import lifecycle

    lifecycle.refuse_one_person = lambda *_: None


@guard("control: no old clear")
def _old_clear() -> None:
    from apps.control import lifecycle

    lifecycle.refuse_old_clear = lambda state, _clear_id, _now: state.clear or _Anything()


class _Anything:
    by = None


@guard("control: a program clears nothing real")
def _program() -> None:
    from apps.control.services import clearing

    clearing.refuse_program = lambda **_: None


@guard("control: the first person is still one")
def _asker() -> None:
    from apps.control.services import clearing

    clearing._refuse_asker_gone = lambda _row: None


@guard("control: one person only where all is simulated")
def _simulated() -> None:
    from apps.control.services import policy

    decide = policy.decide_policy
    policy.decide_policy = lambda **said: decide(**said | {"is_simulated": True})


@guard("control: reports stay at their site")
def _elsewhere() -> None:
    from apps.control.services import stops

    stops._elsewhere = lambda _site_id, _said: frozenset()


@guard("control: a known report is no fact")
def _repeats() -> None:
    from apps.control.services import stops

    stops._begin_known = stops._begin
    stops._begin = lambda act, site_id, said: stops._begin_known(act, site_id, said) and {}


@guard("alarms: what nobody saw stays")
def _unseen() -> None:
    from apps.alarms import lifecycle
    from apps.alarms.types import State

    settled = lifecycle._settled

    def forgets(alarm: Any, definitions: Any) -> Any:
        known = settled(alarm, definitions)
        return replace(known, state=State.NORMAL) if known.state is State.RETURNED else known

    lifecycle._settled = forgets


@guard("alarms: only what was seen is acknowledged")
def _version() -> None:
    from apps.alarms import lifecycle

    lifecycle.refuse_unseen_version = lambda *_: None


CASES = [
    Mutation("control: two people clear", f"{_CLEAR}test_one_person_does_not_clear"),
    Mutation("control: two people clear", "tests/property/test_safety_replay.py"),
    Mutation("control: no old clear", f"{_CLEAR}test_an_old_clear_is_refused"),
    Mutation("control: no old clear", f"{_CLEAR}test_a_clear_of_the_press_before_is_refused"),
    Mutation("control: no old clear", f"{_CLEAR}test_a_clear_that_is_replayed_clears_no_other_stop"),
    Mutation("control: no old clear", f"{_CLEAR}test_after_five_minutes_somebody_must_look_again"),
    Mutation("can says no", f"{_CLEAR}test_without_a_floor_operator_nobody_begins"),
    Mutation("accounts: only a person approves or steps up", f"{_CLEAR}test_nobody_but_people_clears"),
    Mutation("control: a program clears nothing real", f"{_CLEAR}test_a_program_counts_only_where_all_is_simulated"),
    Mutation("control: the first person is still one", f"{_CLEAR}test_the_word_of_whoever_left_counts_no_more"),
    Mutation("control: one person only where all is simulated", f"{_CLEAR}TestOnePersonAtASimulatedSite"),
    Mutation("control: reports stay at their site", f"{_CONFIRM}test_a_bridge_of_another_site_reaches_no_stop_here"),
    Mutation("control: a known report is no fact", f"{_CONFIRM}test_saying_it_again_records_nothing"),
    Mutation("can says no", f"{_RECORD}test_a_stranger_is_refused"),
    Mutation("can says no", f"{_SEE}test_a_stranger_finds_nothing"),
    Mutation("alarms: what nobody saw stays", "tests/property/test_alarms.py"),
    Mutation("alarms: what nobody saw stays", "tests/integration/alarms/test_set_condition.py"),
    Mutation("alarms: only what was seen is acknowledged", f"{_SEE}test_it_covers_only_what_was_seen"),
    Mutation("alarms: only what was seen is acknowledged", "tests/property/test_alarms.py"),
]
