"""What is stored after a run: `python -m tests.bench.core.stored`, run with the settings of the deployment.

Reads JSON (world, what the load did), samples states back and compares them with what their subjects really measured.
"""

import json
import random
import sys
from typing import Any

SAMPLED = 40
_BLOCKS = """
SELECT coalesce(sum(count), 0), coalesce(sum(length(data)), 0), count(*)
FROM telemetry_block JOIN telemetry_layout AS layout ON layout.id = layout_id WHERE site_id = %s AND boot = ANY(%s)
"""
_FACTS = """
SELECT count(*) FROM journal_event
WHERE type IN ('fleet.episode_started', 'fleet.episode_ended') AND site_id = %s AND payload->>'boot' = ANY(%s)
"""


def states_of(ref: Any, since_ms: int, until_ms: int) -> list[Any]:
    """All stored states of a subject, half an hour at a time."""
    from apps.telemetry.selectors import samples

    step = 30 * 60_000
    found = [
        one for at in range(since_ms, until_ms, step) for one in samples(ref, since_ms=at, until_ms=min(at + step, until_ms))
    ]
    return sorted(found, key=lambda one: one.sequence)


def check(world: dict[str, Any], load: dict[str, Any]) -> dict[str, Any]:
    """How many states are stored, how many facts are recorded, and every difference found in some subjects."""
    from uuid import UUID

    from django.db import connection

    from apps.kernel.types import SubjectRef
    from apps.telemetry.selectors import series, storage
    from tests.bench.core.values import CHANNELS, values_of

    faults: list[str] = []
    compared = 0
    bridge_of = {subject: bridge for bridge in world["bridges"] for subject in bridge["subjects"]}
    numbers = {subject: number for number, subject in enumerate(world["subjects"])}
    names = [channel.name for channel in CHANNELS]
    for subject in random.Random(7).sample(world["subjects"], min(SAMPLED, len(world["subjects"]))):
        bridge = bridge_of[subject]["bridge"]
        ref = SubjectRef("robot", UUID(subject.partition(":")[2]), site_id=UUID(world["site"]))
        since_ms, until_ms = load["began_ms"] - 1000, load["ended_ms"] + 30_000
        found = [one for one in states_of(ref, since_ms, until_ms) if str(one.boot) == load["boots"][bridge]]
        until_ms = max((one.received_ms for one in found), default=since_ms) + 1
        compared += len(found)
        if [one.sequence for one in found] != list(range(1, load["sequences"][bridge] + 1)):
            faults.append(f"{subject}: {len(found)} of {load['sequences'][bridge]} states")
        for one in found:
            if [one.values[name] for name in names] != values_of(numbers[subject], one.sequence):
                faults.append(f"{subject}: state {one.sequence} is not what it measured")
            if not 0 <= one.received_ms - one.device_ms <= 5000:
                faults.append(
                    f"{subject}: state {one.sequence} was received {one.received_ms - one.device_ms} ms after it was made"
                )
        chart = series(ref, channels=["count"], since_ms=since_ms, until_ms=until_ms, pixels=10)
        if sum(chart.count) != len(found) or max(v for v in chart.channels[0].highest if v is not None) != found[-1].sequence:
            faults.append(f"{subject}: its chart does not hold its states")
    boots = [UUID(boot) for boot in load["boots"].values()]
    with connection.cursor() as cursor:
        cursor.execute(_BLOCKS, [world["site"], boots])
        states, data_bytes, blocks = cursor.fetchone()
        cursor.execute(_FACTS, [world["site"], [str(boot) for boot in boots]])
        facts = cursor.fetchone()[0]
    return {
        "states": int(states),
        "blocks": int(blocks),
        "data_bytes": int(data_bytes),
        "table_bytes": storage().table_bytes,
        "facts": int(facts),
        "compared": compared,
        "faults": faults[:20],
    }


if __name__ == "__main__":
    import django

    django.setup()
    given = json.loads(sys.stdin.readline())
    sys.stdout.write(json.dumps(check(given["world"], given["load"])) + "\n")
