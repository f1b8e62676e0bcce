"""Acts of alarms, by noun: import the function from the module that holds it, or from here."""

from apps.alarms.services.conditions import set_condition, set_conditions, set_everywhere
from apps.alarms.services.handling import acknowledge, reset_alarm, shelve_alarm, unshelve_alarm
from apps.alarms.services.watching import look_around, tend_alarms, watch_by

__all__ = [
    "acknowledge",
    "look_around",
    "reset_alarm",
    "set_condition",
    "set_conditions",
    "set_everywhere",
    "shelve_alarm",
    "tend_alarms",
    "unshelve_alarm",
    "watch_by",
]
