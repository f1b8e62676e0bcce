"""Every attack test is run once with its guard off, and must fail there."""

import subprocess
import sys

import pytest

from tests.mutations import Mutation, load

FAILED = 1  # pytest's exit status when tests ran and some failed


@pytest.mark.parametrize("case", load(), ids=lambda case: f"{case.guard}:{case.test.rpartition('::')[2]}")
def test_fails_without_its_guard(case: Mutation) -> None:
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-x",
        "-p",
        "no:xdist",
        "-p",
        "no:cacheprovider",
        f"--guard-off={case.guard}",
        "--create-db",
        case.test,
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == FAILED, (
        f"passed without {case.guard}, or did not run:\n{done.stdout[-2000:]}\n{done.stderr[-1000:]}"
    )
