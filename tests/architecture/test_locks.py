"""Locks name releases and nothing of the machine that resolved them."""

import json
import re
from pathlib import Path

import pytest

from tests.architecture.tree import ROOT, plant

REFUSED = {
    r"\+": "a local version label",
    r"file:": "a folder of some machine",
    r"https?://": "an address",
    r"--": "an option",
    r"^(nvidia|cuda|triton)-?": "a CUDA package",
    r"(?i)^(?!#)(?!\s)(?!.*==)\S": "no exact version",
}


def faults_in_lock(text: str) -> list[str]:
    """What a requirements lock must not hold."""
    return [
        f"line {number}: {why}: {line}"
        for number, line in enumerate(text.splitlines(), start=1)
        for pattern, why in REFUSED.items()
        if re.search(pattern, line)
    ]


def faults_in_package_lock(text: str) -> list[str]:
    """Addresses in package-lock.json, and packages without a digest."""
    packages = json.loads(text)["packages"]
    found = []
    for name, package in packages.items():
        if "resolved" in package or "://" in json.dumps(package):
            found.append(f"{name}: an address")
        if name and "integrity" not in package:
            found.append(f"{name}: no digest")
    return found


def unlocked(folder: Path) -> list[str]:
    """Names in an .in file that its lock does not hold."""
    found = []
    for wanted in sorted(folder.glob("*.in")):
        locked = {
            line.partition("==")[0].lower() for line in wanted.with_suffix(".txt").read_text().splitlines() if "==" in line
        }
        for line in wanted.read_text().splitlines():
            name = re.split(r"[\[~=<>! ]", line.strip())[0].lower()
            if name and not name.startswith(("#", "-")) and name not in locked:
                found.append(f"{wanted.name}: {name} is not in {wanted.stem}.txt; run make lock")
    return found


def versions(path: Path) -> dict[str, str]:
    return dict(
        line.split("==", 1) for line in path.read_text().splitlines() if "==" in line and not line.startswith((" ", "#"))
    )


@pytest.mark.parametrize("path", sorted((ROOT / "requirements").glob("*.txt")), ids=lambda path: path.name)
def test_a_lock_names_releases_only(path):
    assert faults_in_lock(path.read_text()) == []


def test_package_lock_has_digests_and_no_addresses():
    assert faults_in_package_lock((ROOT / "package-lock.json").read_text()) == []


def test_everything_asked_for_is_locked():
    assert unlocked(ROOT / "requirements") == []


@pytest.mark.parametrize("name", ["worker", "test"])
def test_one_virtual_environment_can_hold_all_sets(name):
    web, other = versions(ROOT / "requirements/web.txt"), versions(ROOT / f"requirements/{name}.txt")
    assert {
        package: (web[package], other[package]) for package in web.keys() & other.keys() if web[package] != other[package]
    } == {}


def test_torch_is_the_one_release_without_cuda_packages():
    assert versions(ROOT / "requirements/worker.txt")["torch"] == "2.13.0"


@pytest.mark.parametrize(
    "line",
    [
        "torch==2.13.0+cpu",
        "numpy @ file:///srv/wheels/numpy.whl",
        "numpy @ https://packages.example/numpy.whl",
        "--find-links wheels",
        "numpy==2.4.0 --hash=sha256:00",
        "nvidia-cublas-cu12==12.8.4",
        "cuda-bindings==13.0.0",
        "triton==3.6.0",
        "numpy>=2",
        "numpy",
    ],
)
def test_a_planted_line_is_caught(line):
    assert faults_in_lock("") == []
    assert faults_in_lock("numpy==2.4.0\n    # via -r worker.in\n" + line + "\n") != []


def test_a_planted_address_or_missing_digest_is_caught():
    lock = {"packages": {"": {}, "node_modules/a": {"version": "1.0.0", "integrity": "sha512-x"}}}
    assert faults_in_package_lock(json.dumps(lock)) == []
    lock["packages"]["node_modules/a"]["resolved"] = "https://packages.example/a.tgz"
    assert faults_in_package_lock(json.dumps(lock)) == ["node_modules/a: an address"]
    lock["packages"]["node_modules/a"] = {"version": "1.0.0", "integrity": "sha512-x", "funding": {"url": "https://a.example"}}
    assert faults_in_package_lock(json.dumps(lock)) == ["node_modules/a: an address"]
    lock["packages"]["node_modules/a"] = {"version": "1.0.0"}
    assert faults_in_package_lock(json.dumps(lock)) == ["node_modules/a: no digest"]


def test_a_name_missing_from_its_lock_is_caught(tmp_path):
    plant(tmp_path, {"web.in": "# why\nDjango~=5.2\nhttpx[http2]\n", "web.txt": "django==5.2.19\n"})
    assert unlocked(tmp_path) == ["web.in: httpx is not in web.txt; run make lock"]


def test_the_lock_writer_drops_local_labels():
    from tools.write_locks import clean

    assert clean("torch==2.13.0+cpu\n    # via x\nnumpy==2.4.0\n") == "torch==2.13.0\n    # via x\nnumpy==2.4.0\n"
