"""Episodes played as fast as the processor can: for demonstrations, for measuring and for tests."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from workers.sims.bench import SUBSTEPS, Bench
from workers.sims.expert import expert_action
from workers.sims.guard import refusal
from workers.sims.policy import Observation, observe
from workers.sims.scenes import Scene
from workers.sims.task import End, Judge

AT_ONCE = 20


class Episode:
    """One episode on one bench, from its scene to its end."""

    def __init__(self, bench: Bench, scene: Scene) -> None:
        bench.lay_out(scene)
        self.bench = bench
        self.judge = Judge()
        self.end: End | None = None
        self.refused = ""  # why the guard ended it
        self.draw = sensor_noise(scene.seed)

    def play(self, action: Sequence[float]) -> None:
        """Carry out one action for 0.1 s and look what came of it. A refused one moves nothing and ends the episode."""
        self.refused = refusal(action, self.bench.see().aimed)
        if self.refused:
            return
        self.bench.aim(action)
        for _ in range(SUBSTEPS):
            self.bench.advance()
        self.end = self.judge.look(self.bench, self.bench.see())


def sensor_noise(seed: int) -> np.random.Generator:
    """Where the noise of the policy's camera comes from in the scene of this seed."""
    return np.random.Generator(np.random.PCG64([seed, 1]))


@dataclass(frozen=True, slots=True)
class Played:
    """How one episode came out."""

    seed: int
    end: End | None
    refused: str
    steps: int


def play_expert(scene: Scene, bench: Bench) -> Played:
    """One episode by the expert."""
    episode = Episode(bench, scene)
    while episode.end is None and not episode.refused:
        episode.play(expert_action(bench.see(), scene.half[2]))
    return Played(scene.seed, episode.end, episode.refused, episode.judge.steps)


def play_policy(scenes: Sequence[Scene], act: Callable[[Sequence[Observation]], Sequence[Sequence[float]]]) -> list[Played]:
    """One episode of each scene by a policy, several side by side so that the network is asked for many rows at once."""
    benches = [Bench() for _ in range(min(AT_ONCE, len(scenes)))]
    done: list[Played] = []
    for first in range(0, len(scenes), AT_ONCE):
        part = scenes[first : first + AT_ONCE]
        episodes = [Episode(bench, scene) for bench, scene in zip(benches, part, strict=False)]
        while going := [one for one in episodes if one.end is None and not one.refused]:
            actions = act([observe(one.bench.see(), one.draw) for one in going])
            for one, action in zip(going, actions, strict=True):
                one.play(action)
        done += [Played(one.bench.scene.seed, one.end, one.refused, one.judge.steps) for one in episodes]
    return done
