"""Teach the policy from a handful of the expert's demonstrations: `python -m workers.sims.training --out weights.safetensors`.

Few demonstrations on purpose: the policy is to succeed in about half of the scenes, so that there is something to see, to
take over and to improve. Training ends at the first look where about half of the validation scenes succeed.
"""

import argparse
import contextlib
import hashlib
import os
import sys
import time
from collections.abc import Callable
from dataclasses import astuple, dataclass
from pathlib import Path

import mujoco
import numpy as np
import torch

from workers.sims.bench import Bench
from workers.sims.episodes import Episode, play_policy, sensor_noise
from workers.sims.expert import Action, expert_action
from workers.sims.policy import Observation, Policy, Trained, name_of, observe, save
from workers.sims.scenes import scene_of
from workers.sims.task import End

DEMONSTRATION_SEEDS = 1_000  # scenes that are taught from
VALIDATION_SEEDS = 500_000  # scenes that decide when to end; test scenes and the floor's own begin at a million

_CODE = ("bench", "episodes", "expert", "guard", "kinematics", "policy", "scenes", "task", "training")
_MADE_FROM = ("bench.xml", *(f"{name}.py" for name in _CODE))


@dataclass(frozen=True, slots=True)
class Recipe:
    """All that training depends on besides the code."""

    demonstrations: int = 5
    seed: int = 7
    wobble: float = (
        0.25  # of the fastest step: what the expert is pushed by while it shows, so that it also shows how to recover
    )
    first_rounds: int = 300  # passes over all samples before the first look
    rounds: int = 75  # and between two looks
    looks: int = 10
    validation_scenes: int = 80
    lowest: float = 0.45
    highest: float = 0.56


def demonstrate(recipe: Recipe) -> tuple[Observation, Observation]:
    """Observations and the expert's actions, row by row, of all demonstrations."""
    rows: list[Observation] = []
    actions: list[Action] = []
    bench = Bench()
    for number in range(recipe.demonstrations):
        episode = Episode(bench, scene_of(DEMONSTRATION_SEEDS + number))
        draw = sensor_noise(episode.bench.scene.seed)
        while episode.end is None:
            sight = bench.see()
            wanted = expert_action(sight, bench.scene.half[2])
            rows.append(observe(sight, draw))
            actions.append(wanted)
            episode.play(_pushed(wanted, draw, recipe.wobble))
    return np.stack(rows), np.array(actions, dtype=np.float32)


def _pushed(action: Action, draw: np.random.Generator, wobble: float) -> Action:
    x, y, z = (float(np.clip(part + push, -1, 1)) for part, push in zip(action, draw.normal(0, wobble, 3), strict=False))
    return x, y, z, action[3]


def train(recipe: Recipe, say: Callable[[str], None]) -> Trained:
    """The policy of this recipe; the same one each time on the same kind of processor."""
    torch.manual_seed(recipe.seed)
    rows, actions = (torch.from_numpy(part) for part in demonstrate(recipe))
    policy = Policy()
    optimiser = torch.optim.Adam(policy.parameters(), lr=2e-3, weight_decay=1e-5)
    best = (2.0, 0.0, policy.state_dict())
    middle = (recipe.lowest + recipe.highest) / 2
    for look in range(recipe.looks):
        policy.train()
        for _ in range(recipe.rounds if look else recipe.first_rounds):
            optimiser.zero_grad()
            loss = torch.nn.functional.mse_loss(policy(rows), actions)
            loss.backward()  # type: ignore[no-untyped-call]
            optimiser.step()
        policy.eval()
        success = measured(policy, VALIDATION_SEEDS, recipe.validation_scenes)
        say(f"training: look {look + 1}, loss {float(loss.detach()):.4f}, {success:.0%} of validation scenes succeed")
        distance = abs(success - middle)
        if distance < best[0]:
            best = (distance, success, {name: tensor.clone() for name, tensor in policy.state_dict().items()})
        if recipe.lowest <= success <= recipe.highest:
            break
    policy.load_state_dict(best[2])
    return Trained(policy, name_of(policy), best[1], recipe.demonstrations)


def measured(policy: Policy, first_seed: int, count: int) -> float:
    """The share of `count` scenes from `first_seed` on in which this policy succeeds."""
    played = play_policy([scene_of(first_seed + number) for number in range(count)], policy.act)
    return sum(one.end is End.SUCCESS for one in played) / count


def digest_of(recipe: Recipe) -> str:
    """Names what training would come to: the digest of the recipe, of this code and of the libraries it stands on."""
    found = hashlib.sha256(repr((astuple(recipe), torch.__version__, mujoco.__version__, np.__version__)).encode())
    for name in _MADE_FROM:
        found.update(Path(__file__).with_name(name).read_bytes())
    return found.hexdigest()[:16]


def main(arguments: list[str]) -> int:
    """Train once and write the weights; what is there already is left as it is. Returns the exit status."""
    parser = argparse.ArgumentParser(description="Train the bench-picking policy from a few demonstrations.")
    parser.add_argument("--out", type=Path, required=True, help="folder that keeps the weights")
    out: Path = parser.parse_args(arguments).out
    with contextlib.suppress(OSError):
        os.nice(19)  # arms and pictures come first
    recipe = Recipe()
    path = weights_of(out, recipe)
    if path.exists():
        return 0
    started = time.monotonic()

    def say(line: str) -> None:
        print(line, flush=True)  # noqa: T201 - what it prints is its log

    trained = train(recipe, say)
    save(trained, path)
    say(f"training: {trained.name} from {trained.demonstrations} demonstrations in {time.monotonic() - started:.0f} s")
    return 0


def weights_of(folder: Path, recipe: Recipe) -> Path:
    """Where the weights of this recipe lie, or will."""
    return folder / f"bench-pick-{digest_of(recipe)}.safetensors"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
