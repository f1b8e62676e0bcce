"""What may change about robots and bridges, pure: from what is loaded to the facts that follow, or a refusal."""

from apps.fleet.lifecycle.claims import Claimed, decide_claim
from apps.fleet.lifecycle.facts import EpisodeState, Known, OrderState, decide_fact
from apps.fleet.lifecycle.orders import decide_order
from apps.fleet.lifecycle.robots import RobotState, decide_registration, decide_release, need_of
from apps.fleet.lifecycle.words import clean_name, clean_values, clean_words

__all__ = [
    "Claimed",
    "EpisodeState",
    "Known",
    "OrderState",
    "RobotState",
    "clean_name",
    "clean_values",
    "clean_words",
    "decide_claim",
    "decide_fact",
    "decide_order",
    "decide_registration",
    "decide_release",
    "need_of",
]
