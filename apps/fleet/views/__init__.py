"""Pages of fleet, by noun."""

from apps.fleet.views.episodes import episode_list
from apps.fleet.views.faults import fault_knobs
from apps.fleet.views.robots import robot_detail, robot_list, robot_log, robot_register, robot_release, scene_reset

__all__ = [
    "episode_list",
    "fault_knobs",
    "robot_detail",
    "robot_list",
    "robot_log",
    "robot_register",
    "robot_release",
    "scene_reset",
]
