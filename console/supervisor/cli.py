"""The commands that run the deployment: up, down, status, backup, restore.

`manage.py` comes here before Django is loaded: these commands must work without a database and stay small in memory.
"""

import argparse
import os
import sys
from collections.abc import Callable
from pathlib import Path

from console.embedded.faults import Fault
from console.supervisor.folder import DataFolder, as_fault
from console.supervisor.plan import ROOT


def _default_data() -> str:
    return os.environ.get("PILOTHOUSE_DATA") or str(ROOT / "var")


def _data(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--data", type=Path, default=None, help="data folder (default: var/)")


def _up(parser: argparse.ArgumentParser) -> None:
    _data(parser)
    parser.add_argument("--port", type=int, default=8000, help="port of the console; the gateway takes the next one")
    parser.add_argument("--with", dest="profiles", default="", help="further parts, comma separated")
    parser.add_argument(
        "--demo", action="store_true", help="fill in a demo site, print its accounts and run its simulated arms"
    )
    parser.add_argument("--without", default="", help="parts to leave out, comma separated: arms")
    parser.add_argument("--verbose", action="store_true", help="show the logs of all processes")


def _down(parser: argparse.ArgumentParser) -> None:
    _data(parser)


def _status(parser: argparse.ArgumentParser) -> None:
    _data(parser)
    parser.add_argument("--json", action="store_true", help="for programs")


def _backup(parser: argparse.ArgumentParser) -> None:
    _data(parser)
    parser.add_argument("file", type=Path, help="archive to write; must not exist")
    parser.add_argument("--with-secrets", action="store_true", help="include the secret key: then keep the archive safe")


def _restore(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", type=Path, help="archive made by backup")
    parser.add_argument("--data", type=Path, required=True, help="new or empty folder to restore into")


def _run_up(options: argparse.Namespace) -> int:
    from console.supervisor.up import up

    profiles, without = (
        [word.strip() for word in text.split(",") if word.strip()] for text in (options.profiles, options.without)
    )
    return up(_folder(options), options.port, profiles, demo=options.demo, without=without, verbose=options.verbose)


def _run_down(options: argparse.Namespace) -> int:
    from console.supervisor.down import down

    return down(_folder(options))


def _run_status(options: argparse.Namespace) -> int:
    from console.supervisor.status import status

    return status(_folder(options), as_json=options.json)


def _run_backup(options: argparse.Namespace) -> int:
    from console.supervisor.backup import backup

    return backup(_folder(options), options.file, with_secrets=options.with_secrets)


def _run_restore(options: argparse.Namespace) -> int:
    from console.supervisor.restore import restore

    return restore(options.file, _folder(options))


COMMANDS: dict[str, tuple[str, Callable[[argparse.ArgumentParser], None], Callable[[argparse.Namespace], int]]] = {
    "up": ("Run everything on this machine until Ctrl-C.", _up, _run_up),
    "down": ("Stop a console that runs.", _down, _run_down),
    "status": ("Show the processes of a console.", _status, _run_status),
    "backup": ("Write the database and files into one archive.", _backup, _run_backup),
    "restore": ("Make a new data folder from an archive.", _restore, _run_restore),
}


def _folder(options: argparse.Namespace) -> DataFolder:
    return DataFolder(options.data or Path(_default_data()))


def run(name: str, options: argparse.Namespace) -> int:
    """Run one command; a fault becomes one line on stderr and a non-zero code."""
    os.umask(0o077)  # whatever a child writes into the data folder is its owner's alone
    try:
        return COMMANDS[name][2](options)
    except Fault as fault:
        _complain(fault)
        return fault.exit_code
    except OSError as error:
        _complain(as_fault(error, _folder(options).path))
        return 1
    except KeyboardInterrupt:
        return 130


def _complain(fault: Fault) -> None:
    sys.stderr.write(f"pilothouse: {fault}\n")
    sys.stderr.flush()


def main(argv: list[str]) -> int:
    """Run the command named by the first word."""
    name = argv[0]
    help_text, add_arguments, _ = COMMANDS[name]
    parser = argparse.ArgumentParser(prog=f"manage.py {name}", description=help_text)
    add_arguments(parser)
    return run(name, parser.parse_args(argv[1:]))
