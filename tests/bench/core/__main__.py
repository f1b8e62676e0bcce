"""`python -m tests.bench.core [--smoke] [--only gateway,floor]`: one JSON object a line; non-zero when a goal fails."""

import argparse
import importlib
import signal
import sys
import time
from typing import Any

from tests.bench.base import Figure
from tests.bench.core import PARTS, Bench


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
    failed = []
    with Bench(is_smoke=options.smoke, minutes=options.minutes) as bench:
        for name in (part for part in PARTS if part in wanted):
            began = time.monotonic()
            for figure in importlib.import_module(f"tests.bench.core.{name}").measure(bench):
                _say(figure)
                if figure.holds is False:
                    failed.append(figure.name)
            _say(Figure(f"{name}: measured in", time.monotonic() - began, "s"))
    return 1 if failed and not options.smoke else 0


def _say(figure: Figure) -> None:
    sys.stdout.write(figure.line() + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
