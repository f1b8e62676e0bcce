"""Guards of lists and tasks, each switched off in turn."""

from typing import Any

from tests.guards import guard
from tests.mutations import Mutation

_LISTS = "tests/unit/kernel/test_filters.py::"
_TASKS = "tests/integration/kernel/test_tasks.py::"


@guard("list parameters")
def _parameters() -> None:
    """Pass every name on, as a list without a declaration would."""
    from apps.kernel import filters

    def anything(_self: Any, parameters: Any, _wrong: Any) -> dict[str, str]:
        return {name: parameters.getlist(name)[0] for name in parameters}

    filters.Listing._given = anything  # type: ignore[method-assign]


@guard("list value parsers")
def _parsers() -> None:
    from apps.kernel import filters

    filters.text.__code__ = (lambda value: value).__code__


@guard("task arguments")
def _arguments() -> None:
    from apps.kernel import tasks

    class Anything:
        def __init__(self, given: dict[str, Any]) -> None:
            self.__dict__.update(given)

    tasks.msgspec.convert = lambda given, _type: Anything(given)  # type: ignore[assignment]


CASES = [
    Mutation("list parameters", f"{_LISTS}test_refuses_a_name_that_is_not_declared"),
    Mutation("list value parsers", f"{_LISTS}test_refuses_words_that_cannot_be_stored_or_shown"),
    Mutation("task arguments", f"{_TASKS}test_refuses_a_message_with_other_arguments"),
]
