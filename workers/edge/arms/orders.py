"""Knobs and resets, as words: from an order of the console or from the command line to what happens."""

import math
from collections.abc import Mapping
from dataclasses import dataclass

from workers.edge.base import OrderRefused
from workers.sims.faults import Fault

INJECT, CLEAR, RESET, ALL = "inject_fault", "clear_fault", "reset_scene", "all"
LONGEST_S = 3600.0


@dataclass(frozen=True, slots=True)
class Wish:
    """A fault for so many seconds; 0 lasts until it is cleared. `arm` is a name, empty for all of them."""

    fault: Fault
    seconds: float = 0.0
    arm: str = ""


def wish_of(arguments: Mapping[str, object]) -> Wish:
    """What `inject_fault` asks for. Raises OrderRefused."""
    seconds = arguments.get("seconds") or 0.0
    if isinstance(seconds, bool) or not isinstance(seconds, int | float) or not math.isfinite(seconds) or seconds < 0:
        raise OrderRefused("Seconds must be a number, 0 for until it is cleared.")
    return Wish(fault_of(arguments.get("name")), min(float(seconds), LONGEST_S))


def cleared_by(arguments: Mapping[str, object]) -> tuple[Fault, ...]:
    """What `clear_fault` turns off; the name may be `all`. Raises OrderRefused."""
    return tuple(Fault) if arguments.get("name") == ALL else (fault_of(arguments.get("name")),)


def fault_of(name: object) -> Fault:
    """The knob of this name. Raises OrderRefused."""
    try:
        return Fault(str(name))
    except ValueError:
        raise OrderRefused("These arms have no such fault.") from None


def wish_from(text: str) -> Wish:
    """`NAME[:ARM[:SECONDS]]` of the command line. Raises ValueError."""
    name, _, rest = text.partition(":")
    arm, _, seconds = rest.partition(":")
    try:
        return Wish(Fault(name), float(seconds or 0), arm)
    except ValueError:
        raise ValueError(f"{text}: give NAME, NAME:ARM or NAME:ARM:SECONDS, NAME one of {', '.join(Fault)}") from None
