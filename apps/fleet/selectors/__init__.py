"""Reads of fleet, by noun."""

from apps.fleet.selectors.bridges import (
    bridge_epochs,
    bridges_of,
    connected_to,
    gateways,
    open_orders,
    order_of_site,
    subjects_of_site,
)
from apps.fleet.selectors.episodes import EPISODES, episode_of_site, episodes_page
from apps.fleet.selectors.figures import EpisodesSeen, count_robots, newest_episodes
from apps.fleet.selectors.floor import floor_page
from apps.fleet.selectors.robots import (
    ROBOTS,
    names_of_robots,
    newest_facts,
    robot_detail,
    robot_log,
    robots_page,
    simulated_robots,
)

__all__ = [
    "EPISODES",
    "ROBOTS",
    "EpisodesSeen",
    "bridge_epochs",
    "bridges_of",
    "connected_to",
    "count_robots",
    "episode_of_site",
    "episodes_page",
    "floor_page",
    "gateways",
    "names_of_robots",
    "newest_episodes",
    "newest_facts",
    "open_orders",
    "order_of_site",
    "robot_detail",
    "robot_log",
    "robots_page",
    "simulated_robots",
    "subjects_of_site",
]
