"""The supervisor's shadow: outlives it by seconds, and ends what it could not take along.

The parent-death signal reaches our children but not theirs. This process waits for the supervisor to end, however it
ends, gives everybody time to stop, and kills whatever still carries the mark of that run. Standard library only, run
with `-I -S`, so that it costs a few megabytes.
"""

import os
import signal
import sys
import time

GRACE = 5.0


def carrying(mark: bytes, folder: str) -> list[int]:
    """Processes of ours with the mark in their environment, or at work in the folder (a database's helpers hide theirs)."""
    found = []
    for name in os.listdir("/proc"):  # noqa: PTH208 - pathlib costs memory here
        if not name.isdigit() or int(name) == os.getpid():
            continue
        try:
            with open(f"/proc/{name}/environ", "rb") as file:  # noqa: PTH123
                carries = mark in file.read().split(b"\0")
            if carries or os.readlink(f"/proc/{name}/cwd") == folder:  # noqa: PTH115
                found.append(int(name))
        except OSError:
            continue
    return found


def main() -> None:
    """Arguments: number of the pipe's reading end, mark, folder of the database."""
    for number in (signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    pipe, mark, folder = int(sys.argv[1]), sys.argv[2].encode(), sys.argv[3]
    while os.read(pipe, 64):
        pass
    deadline = time.monotonic() + GRACE
    while left := carrying(mark, folder):
        if time.monotonic() > deadline:
            for pid in left:
                try:
                    os.kill(pid, signal.SIGKILL)
                except ProcessLookupError:
                    continue
        if time.monotonic() > deadline + GRACE:
            return
        time.sleep(0.1)


if __name__ == "__main__":
    main()
