"""What protects a page in the browser, each switched off in turn: in the web process, or in the script the page gets."""

from tests.browser import rewrites
from tests.guards import guard
from tests.mutations import Mutation

_POLICY = "tests/browser/test_policy.py::"
_LIVE = "tests/browser/test_live.py::"
_FLOOR = "tests/browser/test_floor.py::"
_STOP = "tests/browser/test_stop.py::"
_KEYS = "tests/browser/test_keyboard.py::"


@guard("script policy")
def _script_policy() -> None:
    from django.conf import settings

    directives = settings.CONTENT_SECURITY_POLICY["DIRECTIVES"]
    directives["script-src"] = ["'self'", "'unsafe-inline'"]


@guard("held order")
def _held_order() -> None:
    rewrites.CHANGES["held-table"] = ('return this.matches(":hover") || this.contains(document.activeElement)', "return false")


@guard("morph keeps elements")
def _morph() -> None:
    """Put the fresh elements in the place of the old ones, as a plain swap would."""
    rewrites.CHANGES["htmx-bridge"] = ("window.Idiomorph.morph(target, fresh, MORPH));", "target.replaceWith(fresh));")


@guard("focus of a row")
def _row_focus() -> None:
    rewrites.CHANGES["htmx-bridge"] = ('change === "remove"', "false")


@guard("choices not sent yet")
def _unsent() -> None:
    rewrites.CHANGES["htmx-bridge"] = ("const kept = [...unsent].map(", "const kept = [].map(")


@guard("late link said")
def _late() -> None:
    rewrites.CHANGES["live-socket"] = ("const STALE_MS = 3000;", "const STALE_MS = 3000000;")


@guard("keys dead in fields")
def _editing() -> None:
    rewrites.CHANGES["keys"] = ("return Boolean(field) && field.checkVisibility();", "return false;")


@guard("late states said")
def _late_states() -> None:
    """Let a state look live however old it is."""
    rewrites.CHANGES["gateway-socket"] = ("const LATE_MS = 3000;", "const LATE_MS = 3000000;")


@guard("paused values frozen")
def _frozen() -> None:
    rewrites.CHANGES["floor/live-floor"] = ("this.#frozen?.get(id) ?? gateway.entry(id)", "gateway.entry(id)")


@guard("stop by another way")
def _other_way() -> None:
    """Trust the socket alone."""
    rewrites.CHANGES["stop-control"] = ("setTimeout(() => this.#otherWay(act), ANSWER_MS);", "")


@guard("robots confirm themselves")
def _confirm() -> None:
    """Take what was sent for done."""
    rewrites.CHANGES["stop-control"] = ("act.states.set(subject, state);", 'act.states.set(subject, "latched");')


CASES = [
    Mutation("script policy", f"{_POLICY}test_an_inline_script_is_refused_by_the_browser", slow=True),
    Mutation("held order", f"{_LIVE}test_rows_keep_their_place_while_somebody_is_in_the_table", slow=True),
    Mutation("morph keeps elements", f"{_LIVE}test_focus_and_an_open_question_survive_a_live_change", slow=True),
    Mutation("focus of a row", f"{_LIVE}test_a_row_stepped_to_keeps_the_focus_over_a_live_change", slow=True),
    Mutation(
        "choices not sent yet", f"{_LIVE}test_what_somebody_chose_survives_a_live_change_after_they_left_the_field", slow=True
    ),
    Mutation("late link said", f"{_LIVE}test_a_silent_link_is_said_and_a_cut_one_resumes_from_the_position", slow=True),
    Mutation("keys dead in fields", f"{_KEYS}test_single_keys_are_dead_in_inputs_and_when_switched_off", slow=True),
    Mutation("late states said", f"{_FLOOR}test_paused_values_stand_still_and_grow_old", slow=True),
    Mutation("paused values frozen", f"{_FLOOR}test_paused_values_stand_still_and_grow_old", slow=True),
    Mutation("stop by another way", f"{_STOP}test_without_an_answer_on_the_socket_it_goes_by_a_post", slow=True),
    Mutation("robots confirm themselves", f"{_STOP}test_a_robot_that_does_not_answer_is_named", slow=True),
]
