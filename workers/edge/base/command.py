"""The command line of every bridge."""

import argparse
import logging
import signal
import sys
from pathlib import Path
from typing import Any

from workers.edge.base.bridge import AlreadyRuns, Bridge
from workers.edge.base.config import Bad, read

_FORMAT = "%(asctime)s %(levelname)s %(name)s %(message)s"


def parser_of(about: str) -> argparse.ArgumentParser:
    """Options that every bridge has; a bridge may add its own."""
    parser = argparse.ArgumentParser(description=about)
    parser.add_argument("--config", type=Path, required=True, help="JSON: url, credential, bridge, subjects, state")
    parser.add_argument("--url", help="the gateway's address, instead of the one in the config file")
    parser.add_argument("--count", type=int, help="speak for the first so many of its subjects only")
    parser.add_argument("--state", type=Path, help="folder for what must survive a restart (else beside the config file)")
    parser.add_argument("--log", type=Path, help="write what is said, heard and kept to this file, one JSON object a line")
    return parser


def main(kind: type[Bridge], *, parser: argparse.ArgumentParser | None = None, **more: Any) -> int:
    """Run a bridge until SIGINT or SIGTERM. `more` is given to it; options added to the parser are in `bridge.options`.

    Returns 0, or 2 when it could not start, with the reason on standard error.
    """
    options = (parser or parser_of(kind.__doc__ or "")).parse_args()
    logging.basicConfig(level=logging.INFO, format=_FORMAT, stream=sys.stderr)
    try:
        config = read(options.config, most=options.count, url=options.url)
        if parser is not None:
            more["options"] = options
        bridge = kind(config, folder=options.state or config.state_folder(options.config), log=options.log, **more)
    except (Bad, AlreadyRuns, OSError, ValueError) as error:
        print(f"{Path(sys.argv[0]).name}: {error}", file=sys.stderr)  # noqa: T201 - a command speaks to its caller
        return 2
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: bridge.end())
    bridge.run()
    return 0
