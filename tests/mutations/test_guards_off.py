"""Every attack test is run once with its guard off, and must fail there. One run a guard, each in a database of its own."""

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from itertools import groupby

import pytest

from tests.mutations import WORDS, Mutation, load

FAILED = 1  # pytest's exit status when tests ran and some failed
LIMIT_S = 300
BY_GUARD: dict[str, list[Mutation]] = {
    guard: list(cases) for guard, cases in groupby(sorted(load(), key=lambda case: case.guard), key=lambda case: case.guard)
}


class Zygote:
    """The prepared process that forks a run for each guard."""

    def __init__(self) -> None:
        command = [sys.executable, "-m", "tests.mutations.zygote"]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def run(self, guard: str, tests: list[str]) -> tuple[int, str]:
        """Exit status and output of pytest over `tests` with `guard` off."""
        assert self.process.stdin is not None and self.process.stdout is not None
        self.process.stdin.write(json.dumps({"guard": guard, "tests": tests}) + "\n")
        self.process.stdin.flush()
        deadline = threading.Timer(LIMIT_S, self.process.kill)
        deadline.start()
        line = self.process.stdout.readline()
        deadline.cancel()
        assert line, f"the run without {guard} did not end within {LIMIT_S} s, or could not start"
        answer = json.loads(line)
        return answer["status"], answer["output"]

    def stop(self) -> None:
        """End it; it drops its databases."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        try:
            self.process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            self.process.kill()


def run_with_own_engines(guard: str, tests: list[str]) -> tuple[int, str]:
    """The same in engines of its own, for a guard in a migration: once migrated, the shared databases keep it."""
    ours = ("PILOTHOUSE_", "DJANGO_SETTINGS_MODULE")
    environment = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
    command = [sys.executable, "-m", "pytest", *WORDS, "--create-db", f"--guard-off={guard}", *tests]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=LIMIT_S, check=False)
    return done.returncode, done.stdout + done.stderr


@pytest.fixture(scope="module")
def zygote() -> Iterator[Zygote]:
    found = Zygote()
    yield found
    found.stop()


@pytest.mark.guards
@pytest.mark.timeout(LIMIT_S + 60)
@pytest.mark.parametrize("guard", BY_GUARD)
def test_fails_without_its_guard(guard: str, zygote: Zygote) -> None:
    tests = list(dict.fromkeys(case.test for case in BY_GUARD[guard]))
    if any(case.migrates for case in BY_GUARD[guard]):
        status, output = run_with_own_engines(guard, tests)
    else:
        status, output = zygote.run(guard, tests)
    lines = output.splitlines()
    # An error is no failure: it would mean that the guard could not be switched off, or the test not set up.
    assert not [line for line in lines if line.startswith("ERROR tests")], output[-3000:]
    assert status == FAILED, f"passed without {guard}, or did not run:\n{output[-3000:]}"
    failed = [line.removeprefix("FAILED ") for line in lines if line.startswith("FAILED ")]
    passed = [test for test in tests if not any(line.startswith(test) for line in failed)]
    assert not passed, f"passed without {guard}: {passed}\n{output[-3000:]}"
