"""Reads of episodes."""

from uuid import UUID

from apps.fleet.models import Episode
from apps.fleet.types import EpisodeSeen
from apps.kernel.errors import NotFound
from apps.kernel.filters import Filter, Listing, Parameters, Sort, choice, identifier, moment
from apps.kernel.pagination import Page
from workers.protocol import Driver, Outcome

EPISODES = Listing(
    filters=(
        Filter("robot", "robot_id", identifier, "Episodes of one robot."),
        Filter("outcome", "outcome", choice([*(one.value for one in Outcome)]), "How it ended."),
        Filter("driver", "driver", choice([*(one.value for one in Driver)]), "What decided the actions."),
        Filter("task", "task", meaning="Exactly this task."),
        Filter("skill", "skill", meaning="Exactly this skill version."),
        Filter("since", "started_at__gte", moment, "Began at or after this time."),
        Filter("until", "started_at__lt", moment, "Began before this time."),
    ),
    sorts={"started": Sort("started_at", moment)},
    default_sort="-started",
)


def episodes_page(site_id: UUID, parameters: Parameters) -> Page[EpisodeSeen]:
    """Episodes of a site as the parameters ask, with the names of their robots. One query. Raises Invalid."""
    page = EPISODES.page(Episode.objects.filter(site_id=site_id).select_related("robot"), parameters)
    return Page([episode_seen(row) for row in page.rows], page.next_cursor)


def episode_of_site(site_id: UUID, episode_id: UUID) -> EpisodeSeen:
    """One episode of one site. Raises NotFound."""
    found = Episode.objects.filter(site_id=site_id, id=episode_id).select_related("robot").first()
    if found is None:
        raise NotFound("There is nothing here.")
    return episode_seen(found)


def episode_seen(row: Episode) -> EpisodeSeen:
    """A row, loaded with its robot, as the type that leaves fleet."""
    return EpisodeSeen(
        id=row.id,
        robot_id=row.robot_id,
        robot=row.robot.name,
        task=row.task,
        driver=row.driver,
        skill=row.skill,
        seed=row.seed,
        started_at=row.started_at,
        device_ms=row.device_ms,
        ended_at=row.ended_at,
        outcome=row.outcome,
        steps=row.steps,
        reason=row.refusal or row.reason,
    )
