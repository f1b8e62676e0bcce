"""One process under supervision: its state, its restarts, its health."""

import os
import random
import signal
import socket
import subprocess
import time
from concurrent.futures import Executor, Future
from typing import Literal

from console.embedded.launch import start
from console.processes import Process
from console.supervisor.logs import open_log
from console.supervisor.plan import Plan, Start
from console.supervisor.serve import listening

State = Literal["waiting", "starting", "running", "failing", "restarting", "done", "failed", "stopped"]
_STEADY = 60.0  # seconds in good health after which earlier crashes are forgotten
_LONGEST = 30.0


class Unit:
    """Starts one process, watches it, and says when it may start again."""

    def __init__(self, process: Process, index: int, plan: Plan) -> None:
        self.process = process
        self.name = process.name if process.count == 1 else f"{process.name}-{index}"
        self.plan = plan
        self.log = plan.folder.log / f"{self.name}.log"
        self.state: State = "waiting"
        self.restarts = 0
        self.since = time.time()
        self.exit: int | None = None
        self._child: subprocess.Popen[bytes] | None = None
        self._start: Start | None = None
        self._crashes = 0
        self._not_before = 0.0
        self._began = 0.0
        self._healthy_since = 0.0
        self._failures = 0
        self._next_check = 0.0
        self._checking: Future[bool] | None = None

    @property
    def pid(self) -> int | None:
        """Its process id while it runs."""
        return self._child.pid if self._child else None

    @property
    def crashes(self) -> int:
        """Crashes in a row."""
        return self._crashes

    def startable(self, now: float) -> bool:
        """May it be started now, as far as it is concerned?"""
        return self._child is None and self.state in ("waiting", "restarting") and now >= self._not_before

    def start(self, now: float) -> None:
        """Start it. Main thread only: the child is bound to the thread that starts it."""
        health: socket.socket | None = None
        if self._crashes:
            for pattern in self.process.discard_on_crash:
                for path in self.plan.folder.run.glob(pattern):
                    path.unlink(missing_ok=True)
        if self.process.health.kind == "http":
            # Equal processes share the public socket, so each is asked on a private one of its own.
            health = listening("127.0.0.1", 0, backlog=16)
        log = open_log(self.log)
        try:
            self._start = self.plan.start(
                self.process, health.getsockname()[1] if health else 0, health.fileno() if health else None
            )
            numbers = [*self.plan.descriptors(self.process), *([health.fileno()] if health else [])]
            self._child = start(
                self._start.command,
                cwd=self._start.cwd,
                environment=self._start.environment,
                log=log,
                sent=self.stop_signal,
                pass_fds=numbers,
            )
        finally:
            os.close(log)
            if health is not None:
                health.close()
        self._began = self._next_check = now
        self._failures = 0
        self._checking = None
        self._become("starting")

    @property
    def stop_signal(self) -> signal.Signals:
        """How it is asked to stop: PostgreSQL's fast shutdown is INT, everything else takes TERM."""
        return signal.SIGINT if self.process.engine == "postgres" else signal.SIGTERM

    def watch(self, now: float, pool: Executor) -> str | None:
        """One look at its health. Returns a reason if it should be killed."""
        if self._child is None or self._start is None or self.process.restart == "never":
            return None
        if self._start.healthy is None:
            if self.state == "running" or now - self._began > 1.0:
                self._well(now)
            return None
        if self._checking is not None:
            if not self._checking.done():
                return None
            well = self._checking.exception() is None and self._checking.result()
            self._checking = None
            reason = self._judge(now, well=well)
            if reason:
                return reason
        if self.state == "starting" and now - self._began > self.process.health.start_within:
            return f"was not ready within {self.process.health.start_within:.0f} s"
        if now >= self._next_check:
            self._checking = pool.submit(self._start.healthy)
        return None

    def _judge(self, now: float, *, well: bool) -> str | None:
        health = self.process.health
        if well:
            self._next_check = now + health.interval
            self._well(now)
        elif self.state == "starting":
            self._next_check = now + 0.1
        else:
            self._failures += 1
            self._next_check = now + 1.0
            if self._failures >= health.failures:
                return f"did not answer {self._failures} times"
            if self.state == "running":
                self._become("failing")
        return None

    def _well(self, now: float) -> None:
        self._failures = 0
        if self.state != "running":
            self._healthy_since = now
            self._become("running")
        elif now - self._healthy_since > _STEADY:
            self._crashes = 0

    def signal(self, sent: signal.Signals) -> None:
        """Signal the process, or with KILL its whole group. It is our unreaped child, so the id is still its own."""
        if self._child is None:
            return
        try:
            if sent == signal.SIGKILL:
                os.killpg(self._child.pid, sent)
            else:
                os.kill(self._child.pid, sent)
        except ProcessLookupError:
            return

    def ended(self, now: float, code: int) -> None:
        """Note that the process ended; the caller has reaped it."""
        if self._child is not None:
            self._child.returncode = code  # we reaped it ourselves; keeps Popen from waiting for a stranger
        self._child = None
        self.exit = code
        if self.process.restart == "never":
            self._become("done" if code == 0 else "failed")
            return
        delay = min(_LONGEST, 0.25 * 2.0**self._crashes) * random.uniform(0.5, 1.0)  # noqa: S311 - jitter, not a secret
        self._crashes += 1
        self.restarts += 1
        self._not_before = now + delay
        self._become("restarting")

    def halt(self) -> None:
        """Note that it was stopped on purpose."""
        if self.state not in ("done", "failed"):
            self._become("stopped")

    def _become(self, state: State) -> None:
        self.state = state
        self.since = time.time()
