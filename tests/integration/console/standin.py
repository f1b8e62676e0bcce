"""The supervisor with a small ASGI application in place of the console: tests of supervision need no Django.

Run as `python -m tests.integration.console.standin up|... --data DIR --port N`: everything else, engines included, is real.
"""

import asyncio
import os
import sys
from dataclasses import replace
from typing import Any

from console.processes import BEAT, GATEWAY, POSTGRES, ROLES, VALKEY, WEB, Process
from console.supervisor import cli, up

APPLICATION = "tests.integration.console.standin:application"


if os.environ.get("PILOTHOUSE_STANDIN_BROKEN") and __name__ != "__main__":
    raise SystemExit("broken on purpose")


async def application(scope: dict[str, Any], receive: Any, send: Any) -> None:
    """Answers 200 with its process id and the client's address; /hang blocks the process."""
    if scope["type"] == "lifespan":
        while True:
            kind = (await receive())["type"]
            await send({"type": f"{kind}.complete"})
            if kind == "lifespan.shutdown":
                return
    if scope["path"] == "/hang":
        while True:
            os.sched_yield()
    await asyncio.sleep(0)
    body = f"{os.getpid()} {scope['client'][0]}".encode()
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", str(len(body)).encode())]})
    await send({"type": "http.response.body", "body": body})


def _serving(process: Process) -> Process:
    needs = tuple(need for need in process.needs if need != "prepare")
    return replace(process, command=(*process.command, "--app", APPLICATION), needs=needs)


# A child of a child in the same group, as Celery's pool has: it must go with its parent.
_FORKING = "import subprocess,sys;subprocess.run([sys.executable,'-c','import time;time.sleep(3600)'])"
FORKING = replace(BEAT, name="forking", command=("{python}", "-c", _FORKING), needs=("postgres", "valkey"))
PROCESSES = (POSTGRES, VALKEY, ROLES, _serving(WEB), _serving(GATEWAY), FORKING)


def _without(guards: set[str]) -> None:
    """Switch off what keeps a killed start from leaving anything: tests show that each is needed."""
    from console.embedded import launch
    from console.embedded.postgres import Cluster
    from console.supervisor import supervision
    from console.supervisor.folder import DataFolder

    if "shadow" in guards:
        supervision.Supervision._set_guard = lambda _: None  # type: ignore[method-assign]
    if "parent-death" in guards:
        launch.bound_to_parent = lambda *_: None  # type: ignore[assignment]
    if "stale-lock" in guards:
        Cluster.clear_leftovers = lambda _: None  # type: ignore[method-assign]
    if "folder-lock" in guards:
        DataFolder.lock = lambda _: None  # type: ignore[method-assign]


if __name__ == "__main__":
    _without(set(os.environ.get("PILOTHOUSE_STANDIN_WITHOUT", "").split(",")))
    up.PROCESSES = PROCESSES  # type: ignore[misc]
    up.up.__kwdefaults__["processes"] = PROCESSES
    sys.exit(cli.main(sys.argv[1:]))
