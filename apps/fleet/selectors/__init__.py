"""Reads of fleet, by noun."""

from apps.fleet.selectors.bridges import bridge_epochs, bridges_of, gateways, open_orders, subjects_of_site
from apps.fleet.selectors.episodes import EPISODES, episodes_page
from apps.fleet.selectors.floor import floor_page
from apps.fleet.selectors.robots import ROBOTS, names_of_robots, robot_detail, robot_log, robots_page

__all__ = [
    "EPISODES",
    "ROBOTS",
    "bridge_epochs",
    "bridges_of",
    "episodes_page",
    "floor_page",
    "gateways",
    "names_of_robots",
    "open_orders",
    "robot_detail",
    "robot_log",
    "robots_page",
    "subjects_of_site",
]
