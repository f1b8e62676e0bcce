"""The policy: trained the same way each time, kept whole, refused when it is not what it should be."""

from dataclasses import replace

import numpy as np
import pytest
import safetensors.torch
import torch

from workers.sims import training
from workers.sims.bench import Bench
from workers.sims.episodes import play_policy, sensor_noise
from workers.sims.policy import OBSERVED, Policy, Trained, load, name_of, observe, save
from workers.sims.scenes import scene_of
from workers.sims.training import Recipe, digest_of, train, weights_of

TINY = Recipe(demonstrations=1, first_rounds=3, looks=1, validation_scenes=2)


@pytest.fixture(scope="module")
def tiny():
    said = []
    return train(TINY, said.append), said


def test_training_again_gives_the_same_policy(tiny):
    again = train(TINY, lambda _: None)
    assert again.name == tiny[0].name
    assert train(replace(TINY, seed=8), lambda _: None).name != again.name
    assert "validation" in tiny[1][0]


def test_the_same_scenes_come_out_the_same_way(tiny):
    scenes = [scene_of(seed) for seed in (3, 4)]
    act = tiny[0].policy.act
    assert play_policy(scenes, act) == play_policy(scenes, act)


def test_what_it_sees_is_a_little_wrong_and_the_same_for_the_same_seed():
    sight = Bench().see()
    once, again, other = (observe(sight, sensor_noise(seed)) for seed in (1, 1, 2))
    assert once.shape == (OBSERVED,)
    assert once.dtype == np.float32
    assert (once == again).all()
    assert not (once == other).all()
    assert np.abs(once - other).max() < 0.2


def test_weights_come_back_as_they_were(tiny, tmp_path):
    path = tmp_path / "new" / "weights.safetensors"
    save(tiny[0], path)
    found = load(path)
    assert (found.name, found.success, found.demonstrations) == (tiny[0].name, tiny[0].success, 1)
    row = np.ones(OBSERVED, dtype=np.float32)
    assert found.policy.act([row]) == tiny[0].policy.act([row])
    assert [one.name for one in path.parent.iterdir()] == [path.name]


def test_a_policy_is_named_after_its_weights():
    policy = Policy()
    before = name_of(policy)
    with torch.no_grad():
        policy.layers[0].bias[0] += 1e-3
    assert name_of(policy) != before


def test_actions_stay_within_the_fastest_step():
    rows = [np.full(OBSERVED, value, dtype=np.float32) for value in (-1e4, 0.0, 1e4)]
    assert all(-1 <= part <= 1 for action in Policy().act(rows) for part in action)


@pytest.mark.parametrize("damage", ["nan", "shape", "missing", "junk"])
def test_other_weights_are_refused(damage, tmp_path):
    path = tmp_path / "weights.safetensors"
    weights = {name: tensor.clone() for name, tensor in Policy().state_dict().items()}
    if damage == "nan":
        weights["layers.0.bias"][0] = float("nan")
    elif damage == "shape":
        weights["layers.0.bias"] = torch.zeros(3)
    elif damage == "missing":
        del weights["layers.0.bias"]
    safetensors.torch.save_file(weights, path)
    if damage == "junk":
        path.write_bytes(b"junk" * 20)
    with pytest.raises(ValueError):
        load(path)


def test_weights_are_named_after_code_and_recipe():
    assert digest_of(TINY) == digest_of(replace(TINY))
    assert digest_of(TINY) != digest_of(replace(TINY, first_rounds=4))


def test_training_leaves_what_is_there(tmp_path, monkeypatch):
    monkeypatch.setattr(training.os, "nice", lambda _: 0)
    monkeypatch.setattr(training, "Recipe", lambda: TINY)
    path = weights_of(tmp_path, TINY)
    save(Trained(Policy(), "", 0.5, 1), path)
    before = path.stat().st_mtime_ns
    assert training.main(["--out", str(tmp_path)]) == 0
    assert path.stat().st_mtime_ns == before
    path.unlink()
    assert training.main(["--out", str(tmp_path)]) == 0
    assert load(path).demonstrations == 1
