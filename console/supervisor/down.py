"""`manage.py down`: stop the supervisor of a data folder, and with it everything it runs."""

import signal
import time

import psutil

from console.embedded.faults import Fault
from console.supervisor.folder import DataFolder
from console.supervisor.supervision import announce

_WITHIN = 20.0


def down(folder: DataFolder) -> int:
    """Ask it to stop and wait. It is found by the id and start time it signed with, never by name."""
    holder = folder.holder()
    process = holder.alive() if holder else None
    if holder is None or process is None:
        announce(f"Nothing runs in {folder.path}.")
        return 0
    process.send_signal(signal.SIGTERM)
    deadline = time.monotonic() + _WITHIN
    while time.monotonic() < deadline:
        if holder.alive() is None or process.status() == psutil.STATUS_ZOMBIE:
            announce("Stopped.")
            return 0
        time.sleep(0.1)
    raise Fault(f"Process {process.pid} did not stop within {_WITHIN:.0f} s.")
