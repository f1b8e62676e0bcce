"""How a Celery task says what it does and who does it. A task without this is refused by the matrix test.

A message on the broker is input from outside: whoever can write to Valkey can send one. So its arguments are read by the
types of the function, unknown ones are refused, and what the task may do is asked of `can` like any other act.
"""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import msgspec
from celery import shared_task

from apps.kernel import logs
from apps.kernel.errors import Invalid
from apps.kernel.ids import new_id
from apps.kernel.permissions import require
from apps.kernel.types import system_actor

SOFT_LIMIT_S = 90
HARD_LIMIT_S = 120


@dataclass(frozen=True)
class TaskAccess:
    """What one task is declared as."""

    name: str
    verb: str
    arguments: type[msgspec.Struct]


_DECLARED: dict[str, TaskAccess] = {}


def console_task(verb: str, *, soft_limit_s: int = SOFT_LIMIT_S, limit_s: int = HARD_LIMIT_S) -> Callable[[Any], Any]:
    """Make a task of the queue `console` from `function(actor, *, argument: type, ...)`, named `<app>.<function>`.

    Arguments travel as JSON, by name. The actor is the console's own part of that name; it needs `verb`.
    """

    def make(function: Callable[..., Any]) -> Any:
        name = f"{function.__module__.split('.')[1]}.{function.__name__}"
        arguments = _arguments_of(function, name)
        found = TaskAccess(name, verb, arguments)
        if _DECLARED.setdefault(name, found).verb != verb:
            raise ValueError(f"task {name} is declared twice")

        def run(*unnamed: object, **given: object) -> None:
            if unnamed:
                raise Invalid("Give arguments by name.")
            try:
                read = msgspec.convert(given, arguments)
            except msgspec.ValidationError as error:
                raise Invalid(f"The arguments of {name} are wrong: {error}") from None
            token = logs.correlation_id.set(str(new_id()))
            try:
                actor = system_actor(name)
                require(actor, verb)
                function(actor, **{field: getattr(read, field) for field in arguments.__struct_fields__})
            finally:
                logs.correlation_id.reset(token)

        run.__doc__ = function.__doc__
        return shared_task(
            name=name, ignore_result=True, typing=False, soft_time_limit=soft_limit_s, time_limit=limit_s, queue="console"
        )(run)

    return make


def _arguments_of(function: Callable[..., Any], name: str) -> type[msgspec.Struct]:
    """A struct that accepts exactly what the function names after its actor."""
    fields: list[Any] = []
    _actor, *parameters = inspect.signature(function, eval_str=True).parameters.values()
    for parameter in parameters:
        if parameter.kind is not parameter.KEYWORD_ONLY or parameter.annotation is parameter.empty:
            raise TypeError(f"task {name}: write {parameter.name} as a typed keyword argument, after *")
        default = () if parameter.default is parameter.empty else (parameter.default,)
        fields.append((parameter.name, parameter.annotation, *default))
    return msgspec.defstruct(f"Arguments of {name}", fields, forbid_unknown_fields=True, kw_only=True, frozen=True)


def declared() -> Mapping[str, TaskAccess]:
    """Every task of the console, by name."""
    return dict(_DECLARED)
