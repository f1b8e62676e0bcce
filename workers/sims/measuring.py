"""How often expert and policy succeed: `python -m workers.sims.measuring --weights FILE --episodes 200`."""

import argparse
import json
import sys
import time
from collections import Counter
from pathlib import Path

from workers.sims.bench import Bench
from workers.sims.episodes import Played, play_expert, play_policy
from workers.sims.policy import load
from workers.sims.scenes import scene_of
from workers.sims.task import End

TEST_SEEDS = 1_000_000  # never demonstrated and never validated on


def figures(played: list[Played]) -> dict[str, object]:
    """Counts by end, the share of successes, and how long they took."""
    ends = Counter("refused" if one.refused else str(one.end) for one in played)
    steps = sorted(one.steps for one in played if one.end is End.SUCCESS)
    return {
        "episodes": len(played),
        "success": round(ends[str(End.SUCCESS)] / len(played), 4),
        "ends": dict(ends),
        "median_steps_of_success": steps[len(steps) // 2] if steps else None,
    }


def main(arguments: list[str]) -> int:
    """Print one JSON line for the expert and one for the policy. Returns the exit status."""
    parser = argparse.ArgumentParser(description="Measure expert and policy on scenes they have not seen.")
    parser.add_argument("--weights", type=Path)
    parser.add_argument("--episodes", type=int, default=200)
    given = parser.parse_args(arguments)
    scenes = [scene_of(TEST_SEEDS + number) for number in range(given.episodes)]
    bench = Bench()
    _say("expert", [play_expert(scene, bench) for scene in scenes])
    if given.weights:
        trained = load(given.weights)
        started = time.process_time()
        played = play_policy(scenes, trained.policy.act)
        seconds = time.process_time() - started
        _say(trained.name, played, steps_per_cpu_s=round(sum(one.steps for one in played) / seconds))
    return 0


def _say(driver: str, played: list[Played], **more: object) -> None:
    print(json.dumps({"driver": driver, **figures(played), **more}), flush=True)  # noqa: T201 - its result


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
