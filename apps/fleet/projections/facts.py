"""Facts of bridges: a batch of fifty costs as many statements as one.

Within a batch what happened to an episode, a robot or an order is brought together first. That gives the same rows as one
fact after the other, because an episode begins before it ends and only a running one is superseded.
"""

from collections.abc import Iterable, Sequence
from typing import Any
from uuid import UUID

from apps.fleet import events
from apps.fleet.models import Episode
from apps.fleet.projections.columns import write_columns
from workers.protocol import Outcome

NEVER_ENDED = "The bridge began another episode without ending this one."
_SUPERSEDE = """
UPDATE fleet_episode AS kept SET ended_at = one.at, outcome = %s, reason = %s, is_superseded = true
FROM unnest(%s::uuid[], %s::timestamptz[]) AS one (id, at) WHERE kept.id = one.id AND kept.outcome = ''
"""
_END = """
UPDATE fleet_episode AS kept SET ended_at = one.at, ended_device_ms = one.device_ms, outcome = one.outcome,
    steps = one.steps, reason = one.reason, is_superseded = false
FROM unnest(%s::uuid[], %s::timestamptz[], %s::bigint[], %s::text[], %s::bigint[], %s::text[])
    AS one (id, at, device_ms, outcome, steps, reason) WHERE kept.id = one.id
"""
_RUNNING = """
UPDATE fleet_robot AS kept SET episode_id = one.episode
FROM unnest(%s::uuid[], %s::uuid[], %s::uuid[]) AS one (id, episode, ended)
WHERE kept.id = one.id AND (one.ended IS NULL OR kept.episode_id = one.ended)
"""
_RESET = """
UPDATE fleet_robot AS kept SET needs_reset = one.reason, needs_reset_at = one.at
FROM unnest(%s::uuid[], %s::text[], %s::timestamptz[]) AS one (id, reason, at) WHERE kept.id = one.id
"""
_REFUSE = """
UPDATE fleet_episode AS kept SET refusal = one.reason
FROM unnest(%s::uuid[], %s::text[]) AS one (id, reason) WHERE kept.id = one.id
"""
_DONE = """
UPDATE fleet_order AS kept SET done_at = one.at, succeeded = one.succeeded, detail = one.detail
FROM unnest(%s::uuid[], %s::timestamptz[], %s::boolean[], %s::text[]) AS one (id, at, succeeded, detail)
WHERE kept.id = one.id
"""
_CURSOR = """
INSERT INTO fleet_boot_cursor AS kept (bridge_id, boot, sequence, taken_at)
SELECT * FROM unnest(%s::uuid[], %s::uuid[], %s::bigint[], %s::timestamptz[])
ON CONFLICT (bridge_id, boot) DO UPDATE SET sequence = EXCLUDED.sequence, taken_at = EXCLUDED.taken_at
WHERE kept.sequence < EXCLUDED.sequence
"""
_STARTED_FIELDS = ("site", "robot", "bridge", "boot", "task", "driver", "skill", "seed", "started_at", "device_ms")


def apply_facts(facts: Sequence[events.FromBridge]) -> None:
    """Project facts of bridges, in the order given."""
    started = [fact for fact in facts if isinstance(fact, events.EpisodeStarted)]
    if started:
        rows = [_episode(fact) for fact in started]
        Episode.objects.bulk_create(rows, update_conflicts=True, unique_fields=["id"], update_fields=_STARTED_FIELDS)
    left = [(fact.supersedes, fact.received_at) for fact in started if fact.supersedes is not None]
    write_columns(_SUPERSEDE, left, Outcome.ABORTED.value, NEVER_ENDED)
    ended = {fact.episode_id: fact for fact in facts if isinstance(fact, events.EpisodeEnded)}
    write_columns(
        _END, [(one.episode_id, one.received_at, one.device_ms, one.outcome, one.steps, one.reason) for one in ended.values()]
    )
    write_columns(_RUNNING, _running(facts))
    write_columns(_RESET, list(_resets(facts).values()))
    refused = {fact.episode_id: fact.reason for fact in facts if isinstance(fact, events.ActionRefused) and fact.episode_id}
    write_columns(_REFUSE, list(refused.items()))
    done = [fact for fact in facts if isinstance(fact, events.OrderDone)]
    write_columns(_DONE, [(one.order_id, one.received_at, one.succeeded, one.detail) for one in done])
    newest = {(fact.bridge_id, fact.boot): fact for fact in facts}
    write_columns(_CURSOR, [(*key, fact.sequence, fact.received_at) for key, fact in newest.items()])


def _episode(fact: events.EpisodeStarted) -> Episode:
    return Episode(
        id=fact.episode_id,
        site_id=fact.site_id,
        robot_id=fact.robot_id,
        bridge_id=fact.bridge_id,
        boot=fact.boot,
        task=fact.task,
        driver=fact.driver,
        skill=fact.skill,
        seed=fact.seed,
        started_at=fact.received_at,
        device_ms=fact.device_ms,
    )


def _running(facts: Iterable[events.FromBridge]) -> list[tuple[UUID, UUID | None, UUID | None]]:
    """Which episode each robot is in after these facts: (robot, episode, None), or (robot, None, the one that has to be it).

    Of the second kind a robot may have several, for its own word of an earlier episode may still come; one fits at most.
    """
    begun: dict[UUID, UUID | None] = {}
    ended: list[tuple[UUID, None, UUID]] = []
    for fact in facts:
        if isinstance(fact, events.EpisodeStarted):
            begun[fact.robot_id] = fact.episode_id
        elif isinstance(fact, events.EpisodeEnded):
            if fact.robot_id not in begun:
                ended.append((fact.robot_id, None, fact.episode_id))
            elif begun[fact.robot_id] == fact.episode_id:
                begun[fact.robot_id] = None
    return [(robot_id, episode, None) for robot_id, episode in begun.items()] + [one for one in ended if one[0] not in begun]


def _resets(facts: Iterable[events.FromBridge]) -> dict[UUID, tuple[UUID, str, Any]]:
    """Why each robot needs a person after these facts, and since when."""
    found: dict[UUID, tuple[UUID, str, Any]] = {}
    for fact in facts:
        if isinstance(fact, events.NeedsReset):
            found[fact.robot_id] = (fact.robot_id, fact.reason, fact.received_at)
        elif isinstance(fact, events.WasReset):
            found[fact.robot_id] = (fact.robot_id, "", None)
    return found
