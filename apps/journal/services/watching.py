"""A walk through the whole journal once a day, in a process of its own that gives way to everything else."""

import subprocess
import sys
import threading
from datetime import timedelta

import structlog
from django.conf import settings
from django.db import Error as DatabaseError
from django.db import close_old_connections
from psycopg_pool import PoolTimeout

from apps.journal.models import Verification
from apps.kernel import clock

EVERY = timedelta(hours=24)
FIRST_AFTER_S = 60.0
LOOK_S = 300.0
_log = structlog.get_logger(__name__)


def watch(stop: threading.Event) -> None:
    """Until `stop` is set, verify whenever the last verification is a day old."""
    wait = FIRST_AFTER_S
    while not stop.wait(wait):
        wait = LOOK_S
        try:
            last = Verification.objects.order_by("-ended_at").values_list("ended_at", flat=True).first()
        except (DatabaseError, PoolTimeout):
            continue  # the tail says so
        finally:
            close_old_connections()
        if last is None or clock.now() - last >= EVERY:
            _verify(stop)


def _verify(stop: threading.Event) -> None:
    command = ["nice", "-n", "19", sys.executable, str(settings.ROOT / "manage.py"), "journal", "verify", "--record"]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as walking:
        while walking.poll() is None:
            if stop.wait(1.0):
                walking.terminate()
    _log.info("the journal was verified", holds=walking.returncode == 0)
