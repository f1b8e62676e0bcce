"""Reads of alarms, by noun."""

from apps.alarms.selectors.load import Load, load_of
from apps.alarms.selectors.standing import (
    ALARMS,
    AlarmRow,
    Strip,
    active_among,
    alarm_subjects,
    alarms_page,
    get_alarm,
    has_unseen,
    holding,
    position_of,
    shelved_alarms,
    standing_alarms,
    strip,
)

__all__ = [
    "ALARMS",
    "AlarmRow",
    "Load",
    "Strip",
    "active_among",
    "alarm_subjects",
    "alarms_page",
    "get_alarm",
    "has_unseen",
    "holding",
    "load_of",
    "position_of",
    "shelved_alarms",
    "standing_alarms",
    "strip",
]
