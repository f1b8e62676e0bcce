"""Acts of fleet, by noun."""

from apps.fleet.services.bridges import (
    claim_bridge,
    note_gateway,
    release_bridge,
    release_bridges_of_silent_gateways,
    save_reports,
)
from apps.fleet.services.facts import take_facts
from apps.fleet.services.orders import place_order
from apps.fleet.services.robots import register_robot, release_robot
from apps.fleet.services.seed import SeededFleet, seed_fleet

__all__ = [
    "SeededFleet",
    "claim_bridge",
    "note_gateway",
    "place_order",
    "register_robot",
    "release_bridge",
    "release_bridges_of_silent_gateways",
    "release_robot",
    "save_reports",
    "seed_fleet",
    "take_facts",
]
