"""Words of alarms: what deserves one, its states, what a detector says."""

from apps.alarms.types.definitions import DEFINITIONS, Consequence, Definition, Priority, Urgency, definition_named
from apps.alarms.types.states import (
    MOST_DETAIL,
    STANDING,
    UNSEEN,
    AlarmState,
    Condition,
    State,
    Steadied,
)

__all__ = [
    "DEFINITIONS",
    "MOST_DETAIL",
    "STANDING",
    "UNSEEN",
    "AlarmState",
    "Condition",
    "Consequence",
    "Definition",
    "Priority",
    "State",
    "Steadied",
    "Urgency",
    "definition_named",
]
