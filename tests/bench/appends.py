"""How fast facts are written: processes that append as a service does, each on a stream of its own."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def rate(settings: dict[str, str], *, writers: int, seconds: float) -> float:
    """Events a second of several processes together. `settings` name the deployment."""
    begin = time.time() + 3.0 + writers * 0.6  # when all have started
    running = [_start(settings, begin, seconds, 0.0, number) for number in range(writers)]
    return sum(_events(process, seconds) for process in running) / seconds


def facts(settings: dict[str, str], seconds: float, a_second: float) -> int:
    """Append at a steady rate for some time; how many."""
    return _events(_start(settings, time.time(), seconds, 1 / a_second, 0), seconds)


def _start(settings: dict[str, str], begin: float, seconds: float, pause_s: float, number: int) -> "subprocess.Popen[str]":
    environment = {**os.environ, **settings, "DJANGO_SETTINGS_MODULE": "console.settings.embedded", "PILOTHOUSE_POOL_SIZE": "1"}
    command = [sys.executable, "-m", "tests.bench.appends", str(begin), str(seconds), str(pause_s), str(number)]
    return subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True)


def _events(process: "subprocess.Popen[str]", seconds: float) -> int:
    answer, _ = process.communicate(timeout=seconds + 90)
    if process.returncode:
        raise RuntimeError("a writer failed")
    return int(json.loads(answer)["events"])


def write(begin: float, seconds: float, pause_s: float, number: int) -> int:
    """Append one event a transaction until the time is over; how many."""
    import django

    django.setup()
    from django.db import connection

    from apps.journal.events import event
    from apps.journal.services import operation
    from apps.journal.types import Payload
    from apps.kernel.types import system_actor

    @event("bench.counted")
    class Counted(Payload):
        number: int

    actor, events = system_actor("bench"), 0
    connection.ensure_connection()
    time.sleep(max(0.0, begin - time.time()))
    ends = time.monotonic() + seconds
    while time.monotonic() < ends:
        with operation(actor, "bench.count") as unit:
            unit.append(f"bench.stream:{number}", [Counted(number=events)])
        events += 1
        if pause_s:
            time.sleep(min(pause_s, max(0.0, ends - time.monotonic())))
    return events


if __name__ == "__main__":
    begin, seconds, pause_s, number = sys.argv[1:]
    sys.stdout.write(json.dumps({"events": write(float(begin), float(seconds), float(pause_s), int(number))}))
