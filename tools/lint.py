"""Every check that needs no running console, cheapest first, each as a named step. Run by `make lint`.

All steps run even when one fails, so that one run tells everything; two at a time, as slow ones wait for the disk.
"""

import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BIN = ROOT / ".venv" / "bin"
LIMIT_S = 300
# A console that could be put on a network, without being one: the checks look at settings and open nothing.
PRODUCTION = {
    "DJANGO_SETTINGS_MODULE": "console.settings.production",
    "PILOTHOUSE_SECRET_KEY": "only-for-the-checks-0123456789-abcdefghijklmnopqrstuvwxyz",
    "PILOTHOUSE_HOSTS": "console.example",
    "PILOTHOUSE_PUBLIC_URL": "https://console.example",
    "PILOTHOUSE_GATEWAY_URL": "wss://console.example",
    "PILOTHOUSE_DATABASE_URL": "postgresql://nobody@127.0.0.1:1/none",
    "PILOTHOUSE_VALKEY_URL": "redis://127.0.0.1:1",
}
STEPS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("types (mypy)", ("mypy",)),
    ("style (ruff check)", ("ruff", "check", ".")),
    ("format (ruff format)", ("ruff", "format", "--check", ".")),
    ("imports (import-linter)", ("lint-imports", "--cache-dir", "build/import-linter")),
    ("dependencies (deptry)", ("deptry", ".")),
    ("settings and migrations (Django)", ("python", "tools/check_django.py")),
    ("templates (djlint)", ("djlint", "templates", "--lint")),
    ("spelling (typos)", ("typos", ".")),
)


def main() -> int:
    """Run every step. Returns the exit status."""
    started = time.monotonic()
    with ThreadPoolExecutor(2) as pool:
        results = list(pool.map(run, STEPS))
    failed = [name for (name, _), status in zip(STEPS, results, strict=True) if status]
    words = f"FAILED: {', '.join(failed)}" if failed else f"{len(STEPS)} checks passed"
    print(f"lint: {words} in {time.monotonic() - started:.0f} s")
    return 1 if failed else 0


def run(step: tuple[str, tuple[str, ...]]) -> int:
    """Run one step, quiet unless it fails. Returns its exit status."""
    name, (program, *arguments) = step
    started = time.monotonic()
    environment = {**os.environ, **PRODUCTION} if program == "python" else dict(os.environ)
    try:
        done = subprocess.run(
            [str(BIN / program), *arguments],
            cwd=ROOT,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=LIMIT_S,
            check=False,
        )
        status, said = done.returncode, done.stdout
    except subprocess.TimeoutExpired:
        status, said = 124, f"not finished after {LIMIT_S} s"
    print(f"lint: {name}: {'ok' if status == 0 else 'FAILED'} ({time.monotonic() - started:.1f} s)", flush=True)
    if status:
        print(said.rstrip(), flush=True)
    return status


if __name__ == "__main__":
    sys.exit(main())
