"""Every attack test is run once with its guard off, and must fail there. One run a guard, with engines of its own."""

import os
import subprocess
import sys
from itertools import groupby

import pytest

from tests.mutations import load

FAILED = 1  # pytest's exit status when tests ran and some failed
BY_GUARD = {
    guard: [case.test for case in cases]
    for guard, cases in groupby(sorted(load(), key=lambda case: case.guard), key=lambda case: case.guard)
}


def _environment() -> dict[str, str]:
    """Without the addresses of this run's engines, so that each run starts its own: a guard in a migration stays off in a
    database for good, and several guards are tried at once."""
    ours = ("PILOTHOUSE_", "DJANGO_SETTINGS_MODULE")
    return {name: value for name, value in os.environ.items() if not name.startswith(ours)}


@pytest.mark.timeout(600)
@pytest.mark.parametrize("guard", BY_GUARD)
def test_fails_without_its_guard(guard: str) -> None:
    words = ["-q", "-rfE", "--tb=line", "-p", "no:xdist", "-p", "no:cacheprovider", f"--guard-off={guard}", "--create-db"]
    command = [sys.executable, "-m", "pytest", *words, *dict.fromkeys(BY_GUARD[guard])]
    done = subprocess.run(command, env=_environment(), capture_output=True, text=True, timeout=550, check=False)
    said = f"{done.stdout[-3000:]}\n{done.stderr[-1000:]}"
    lines = done.stdout.splitlines()
    # An error is no failure: it would mean that the guard could not be switched off, or the test not set up.
    assert not [line for line in lines if line.startswith("ERROR ")], said
    assert done.returncode == FAILED, f"passed without {guard}, or did not run:\n{said}"
    failed = [line.removeprefix("FAILED ") for line in lines if line.startswith("FAILED ")]
    passed = [test for test in BY_GUARD[guard] if not any(line.startswith(test) for line in failed)]
    assert not passed, f"passed without {guard}:\n{said}"
