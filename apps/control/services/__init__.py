"""Acts of Stop, by noun: import the function from the module that holds it, or from here."""

from apps.control.services.clearing import confirm_clear, drop_expired_clears, request_clear, withdraw_clear
from apps.control.services.policy import change_policy
from apps.control.services.stops import confirm_stop, confirm_stops, record_stop, release_stop, release_stops

__all__ = [
    "change_policy",
    "confirm_clear",
    "confirm_stop",
    "confirm_stops",
    "drop_expired_clears",
    "record_stop",
    "release_stop",
    "release_stops",
    "request_clear",
    "withdraw_clear",
]
