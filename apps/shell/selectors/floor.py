"""The floor of one site as its page shows it first; the page's socket to the robots brings it up to date."""

from typing import Any
from uuid import UUID

from django.urls import reverse

from apps.fleet import selectors as fleet
from apps.shell.types import FloorView

MOST_TILES = 200  # above it a robot is a mark: no screen holds more pictures, and no person looks at them
_NOBODY = UUID(int=0)


def floor_view(site: Any) -> FloorView:
    """Robots sorted by need and the newest episodes of a site: two queries, however many there are."""
    robots = fleet.floor_page(site.id).robots
    return FloorView(
        robots=robots,
        is_marks=len(robots) > MOST_TILES,
        all_simulated=all(robot.is_simulated for robot in robots),
        robots_url=robots_url(site.slug),
        episodes=fleet.newest_episodes(site.id) if robots else fleet.EpisodesSeen((), ()),
    )


def robots_url(site_slug: str) -> str:
    """What the address of every robot of a site begins with. Asked once: a thousand reverses take longer than the page may."""
    return reverse("fleet:robot_detail", args=[site_slug, _NOBODY]).removesuffix(f"{_NOBODY}/")
