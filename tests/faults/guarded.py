"""`manage.py` with one guard off in the web processes and the gateway: `python -m tests.faults.guarded up ...`.

`PILOTHOUSE_TEST_GUARD_OFF` names the guard; see `tests.guarded_asgi`. All else is what a deployment runs.
"""

import sys
from dataclasses import replace

import manage
from console.processes import GATEWAY, PROCESSES, WEB, Process
from console.supervisor import up


def _guarded(process: Process) -> Process:
    if process not in (WEB, GATEWAY):
        return process
    return replace(process, command=(*process.command, "--app", f"tests.guarded_asgi:{process.name}"))


if __name__ == "__main__":
    made = tuple(map(_guarded, PROCESSES))
    up.PROCESSES = made
    up.up.__kwdefaults__["processes"] = made
    sys.argv[0] = "manage.py"
    manage.main()
