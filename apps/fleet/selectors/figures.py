"""How the last episodes of a site went, in figures that carry their n and their interval."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from apps.fleet.models import Episode, Robot
from apps.fleet.selectors.episodes import episode_seen
from apps.fleet.types import EpisodeSeen

COUNTED, LISTED = 100, 8
_Z = 1.96  # 95 %


@dataclass(frozen=True)
class DriverFigures:
    """How the last episodes went under one skill version, or under the scripted expert. `total` counts those that ended."""

    name: str
    total: int
    outcomes: Mapping[str, int]

    @property
    def succeeded(self) -> int:
        """How many succeeded by the task's own check."""
        return self.outcomes.get("success", 0)

    @property
    def interval_pct(self) -> tuple[int, int]:
        """Where the true share of successes lies with 95 % confidence (Wilson), in whole per cent."""
        n, z = self.total, _Z
        if not n:
            return 0, 100
        share = self.succeeded / n
        middle = (share + z * z / (2 * n)) / (1 + z * z / n)
        half = z * ((share * (1 - share) / n + z * z / (4 * n * n)) ** 0.5) / (1 + z * z / n)
        return max(0, round(100 * (middle - half))), min(100, round(100 * (middle + half)))


@dataclass(frozen=True)
class EpisodesSeen:
    """The newest episodes that ended at a site, and figures over the last hundred."""

    newest: Sequence[EpisodeSeen]
    figures: Sequence[DriverFigures]


def newest_episodes(site_id: UUID) -> EpisodesSeen:
    """The newest episodes of a site that ended, and how the last hundred went by what drove them. One query."""
    rows = Episode.objects.filter(site_id=site_id).exclude(outcome="").select_related("robot").order_by("-started_at", "-id")
    ended = [episode_seen(row) for row in rows[:COUNTED]]
    by_driver: dict[str, Counter[str]] = {}
    for one in ended:
        by_driver.setdefault(one.skill or one.driver, Counter())[one.outcome] += 1
    figures = [DriverFigures(name, outcomes.total(), outcomes) for name, outcomes in sorted(by_driver.items())]
    return EpisodesSeen(ended[:LISTED], figures)


def count_robots(site_id: UUID) -> int:
    """How many robots a site has. One query, by an index alone."""
    return Robot.objects.filter(site_id=site_id).count()
