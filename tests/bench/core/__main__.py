"""`python -m tests.bench.core [--smoke] [--only gateway,floor]`: one JSON object a line; non-zero when a goal fails."""

import argparse
import importlib
import signal
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from tests.bench.base import Figure
from tests.bench.core import ALONE, PARTS, Bench


def main(arguments: list[str] | None = None) -> int:
    """Print every figure; 1 when a goal fails, except in a smoke run, where only running matters."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.core", description=__doc__)
    parser.add_argument("--smoke", action="store_true", help="seconds instead of minutes; goals are not asked for")
    parser.add_argument("--only", default=",".join(PARTS), help=f"parts, comma separated: {', '.join(PARTS)}")
    parser.add_argument("--minutes", type=float, default=20.0, help="of the memory part (20)")
    options: Any = parser.parse_args(arguments)
    wanted = options.only.split(",")
    if unknown := set(wanted) - set(PARTS):
        parser.error(f"no such part: {', '.join(sorted(unknown))}")
    signal.signal(signal.SIGTERM, lambda _number, _frame: sys.exit(143))  # whatever was started ends too
    parts = [part for part in PARTS if part in wanted]
    with Bench(is_smoke=options.smoke, minutes=options.minutes) as bench:
        if not options.smoke:
            failed = _measure(bench, parts)
            return 1 if failed else 0
        # Only running matters, and most of it is waiting for programs to start: what needs no shared console runs beside it.
        alone = [part for part in parts if part in ALONE]
        with ThreadPoolExecutor() as threads:
            running = [threads.submit(_measure, bench, [part]) for part in alone]
            _measure(bench, [part for part in parts if part not in alone])
            for one in running:
                one.result()
    return 0


def _measure(bench: Bench, parts: list[str]) -> list[str]:
    """Say every figure of some parts; the names of those whose goal fails."""
    failed = []
    for name in parts:
        began = time.monotonic()
        for figure in importlib.import_module(f"tests.bench.core.{name}").measure(bench):
            _say(figure)
            if figure.holds is False:
                failed.append(figure.name)
        _say(Figure(f"{name}: measured in", time.monotonic() - began, "s"))
    return failed


def _say(figure: Figure) -> None:
    sys.stdout.write(figure.line() + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
