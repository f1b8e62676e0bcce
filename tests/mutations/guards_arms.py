"""What keeps simulated arms safe, each switched off in turn."""

from tests.guards import guard
from tests.mutations import Mutation

_UNSAFE = "tests/unit/arms/test_unsafe.py::"
_BRIDGE = "tests/unit/arms/test_bridge.py::"


@guard("arms: no unsafe action")
def _action() -> None:
    from workers.edge.arms import arm

    arm.refusal = lambda *_: ""


@guard("arms: a Stop is heeded")
def _heed() -> None:
    from workers.edge.arms.bridge import Arms

    Arms._heed = lambda *_: None  # type: ignore[method-assign]


@guard("arms: nothing moves before it may")
def _may_move() -> None:
    from workers.edge.arms.bridge import Arms

    Arms.may_move = lambda *_: True  # type: ignore[method-assign]


CASES = [
    Mutation("arms: no unsafe action", f"{_UNSAFE}test_it_is_refused_the_arm_holds_and_the_episode_is_unsafe"),
    Mutation("arms: no unsafe action", f"{_UNSAFE}test_whatever_the_policy_answers"),
    Mutation("arms: a Stop is heeded", f"{_BRIDGE}test_a_stop_ends_motion_and_is_confirmed_by_what_was_measured"),
    Mutation("arms: nothing moves before it may", f"{_BRIDGE}test_no_reset_moves_an_arm_that_is_stopped"),
]
