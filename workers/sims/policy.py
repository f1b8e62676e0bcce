"""The trained policy: a small torch network that sees an estimate of the scene and says what the arm should do next."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import safetensors.torch
import torch
from torch import nn

from workers.sims.bench import Sight
from workers.sims.guard import ACTION_SIZE
from workers.sims.task import holds

Observation = npt.NDArray[np.float32]
OBSERVED = 14
WIDTH = 128
BLOCK_NOISE_M = 0.002  # what a camera would be off by
torch.set_num_threads(1)  # twelve rows of a small network: more threads only wait for each other


def observe(sight: Sight, draw: np.random.Generator) -> Observation:
    """What the policy is given of a scene, in tenths of a metre: the block as a camera would see it, a little wrong."""
    tip, zone = np.array(sight.tip), np.array(sight.zone)
    block = np.array(sight.block) + draw.normal(0.0, BLOCK_NOISE_M, 3)
    parts = (
        (tip - (0.35, 0.0, 0.1)) * 10,
        (block - tip) * 10,
        (zone - tip[:2]) * 10,
        (zone - block[:2]) * 10,
        (block[2] * 10, sight.opening * 20, sight.grip_n / 5, float(holds(sight))),
    )
    return np.concatenate(parts, dtype=np.float32, casting="same_kind")


class Policy(nn.Module):
    """Two hidden layers. Rows of observations in, rows of actions out: three parts of the fastest step, and the gripper."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            *(nn.Linear(OBSERVED, WIDTH), nn.Tanh(), nn.Linear(WIDTH, WIDTH), nn.Tanh(), nn.Linear(WIDTH, ACTION_SIZE))
        )

    def forward(self, rows: torch.Tensor) -> torch.Tensor:
        """Actions of these observations, each number between -1 and 1."""
        return torch.tanh(self.layers(rows))

    @torch.inference_mode()
    def act(self, observations: Sequence[Observation]) -> list[list[float]]:
        """The actions for these observations, one call for all of them."""
        found: list[list[float]] = self(torch.from_numpy(np.stack(observations))).tolist()
        return found


@dataclass(frozen=True, slots=True)
class Trained:
    """A policy with its name, which is made from its weights, and how often it succeeded when it was last measured."""

    policy: Policy
    name: str
    success: float  # share of validation scenes
    demonstrations: int


def save(trained: Trained, path: Path) -> None:
    """Write the weights, whole or not at all."""
    kept = {"success": f"{trained.success:.4f}", "demonstrations": str(trained.demonstrations)}
    partial = path.with_suffix(".partial")
    path.parent.mkdir(parents=True, exist_ok=True)
    safetensors.torch.save_file(trained.policy.state_dict(), partial, metadata=kept)
    partial.replace(path)


def load(path: Path) -> Trained:
    """Read weights back. Raises OSError, or ValueError where they are not those of such a policy or not finite."""
    try:
        with safetensors.safe_open(path, framework="pt") as file:
            kept = file.metadata() or {}
            weights = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 - it is no dict
    except safetensors.SafetensorError as error:
        raise ValueError(f"{path.name} is no file of weights") from error
    if not all(bool(torch.isfinite(tensor).all()) for tensor in weights.values()):
        raise ValueError("weights are not finite")
    policy = Policy()
    try:
        policy.load_state_dict(weights)
    except RuntimeError as error:
        raise ValueError("these are not the weights of this policy") from error
    policy.eval()
    return Trained(policy, name_of(policy), float(kept.get("success", "nan")), int(kept.get("demonstrations", "0")))


def warm_up(policy: Policy) -> None:
    """Ask it once for nothing: the first call of a network takes many times as long as the next ones."""
    policy.act([np.zeros(OBSERVED, dtype=np.float32)])


def name_of(policy: Policy) -> str:
    """What the policy is called: the first digits of the digest of its weights."""
    digest = hashlib.sha256(b"".join(tensor.numpy().tobytes() for tensor in policy.state_dict().values()))
    return f"bench-pick {digest.hexdigest()[:8]}"
