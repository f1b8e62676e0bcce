"""The loop of `manage.py up`: starts in order of need, watches, restarts, and leaves no process behind."""

import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psutil

from console.embedded.faults import Fault
from console.embedded.launch import adopt_orphans, release_orphans
from console.embedded.leftovers import MARK, end_all
from console.supervisor.folder import write_private
from console.supervisor.logs import Follower, last_line, rotate
from console.supervisor.plan import Plan
from console.supervisor.unit import Unit

_READY_WITHIN = 60.0
_TRIES = 3  # crashes in a row before the console was ever ready, until we give up
GUARD = Path(__file__).with_name("guard.py")
_STOPPING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Supervision:
    """Runs the processes of a plan until told to stop."""

    def __init__(self, plan: Plan, say: Callable[[str], None], follower: Follower | None = None) -> None:
        self.plan = plan
        self.say = say
        self.follower = follower
        self.units = [Unit(process, index + 1, plan) for process in plan.processes for index in range(process.count)]
        self.serving = False
        self._stop_asked = 0
        self._began = time.monotonic()
        self._written: object = None
        self._rotated = 0.0
        self._asked_ready = 0.0
        self._settled_since = self._began
        self._guard: subprocess.Popen[bytes] | None = None
        self._leash = os.pipe2(os.O_CLOEXEC)  # the guard reads it; it closes when we end, however we end

    def run(self, on_serving: Callable[[], None]) -> None:
        """Until Ctrl-C or SIGTERM. Raises Fault if the console could not be brought up."""
        adopt_orphans()
        reading, writing = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        woken = signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
        # A signal that is ignored already stays so: that is how nohup asks us to go on without a terminal.
        heeded = [number for number in _STOPPING if signal.getsignal(number) is not signal.SIG_IGN]
        before = {number: signal.signal(number, self._asked) for number in heeded}
        before[signal.SIGCHLD] = signal.signal(signal.SIGCHLD, lambda *_: None)  # only wakes the loop
        self._set_guard()
        pool = ThreadPoolExecutor(4, thread_name_prefix="health")
        try:
            while not self._stop_asked:
                self._reap()
                self._look(pool)
                if not self.serving and self._is_serving():
                    self.serving = True
                    on_serving()
                self._tend()
                select.select([reading], [], [], 0.5 if self.serving and self._settled() else 0.05)
                self._drain(reading)
        finally:
            self._stop_all()
            self._tend()
            self._release_guard()
            pool.shutdown(wait=False, cancel_futures=True)
            signal.set_wakeup_fd(woken)
            for number, handler in before.items():
                signal.signal(number, handler)
            os.close(reading)
            os.close(writing)
            release_orphans()

    def _set_guard(self) -> None:
        self._guard = subprocess.Popen(
            [
                sys.executable,
                "-I",
                "-S",
                str(GUARD),
                str(self._leash[0]),
                f"{MARK}={self.plan.mark}",
                str(self.plan.folder.path / "postgres" / "data"),
            ],
            env={MARK: self.plan.mark},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            pass_fds=[self._leash[0]],
            start_new_session=True,
        )

    def _release_guard(self) -> None:
        os.close(self._leash[1])
        os.close(self._leash[0])
        if self._guard is not None and self._guard.returncode is None:
            try:
                self._guard.wait(3)
            except subprocess.TimeoutExpired:
                self._guard.kill()
                self._guard.wait()

    def _asked(self, *_: object) -> None:
        self._stop_asked += 1

    @staticmethod
    def _drain(reading: int) -> None:
        try:
            while os.read(reading, 512):
                pass
        except BlockingIOError:
            return

    def _settled(self) -> bool:
        return all(unit.state in ("running", "done") for unit in self.units)

    def _is_serving(self) -> bool:
        now = time.monotonic()
        if not self._settled():
            self._settled_since = now
            return False
        if now - self._asked_ready < 0.2:
            return False
        self._asked_ready = now
        if now - self._settled_since > _READY_WITHIN:
            raise Fault(
                f"Every process runs, but the console did not say it is ready within {_READY_WITHIN:.0f} s: see /readyz."
            )
        return self.plan.ready()

    def _look(self, pool: ThreadPoolExecutor) -> None:
        now = time.monotonic()
        for unit in self.units:
            if unit.startable(now) and self._needs_met(unit):
                self._start(unit, now)
            earlier = unit.state
            reason = unit.watch(now, pool)
            if reason:
                self.say(f"{unit.name} {reason}: restarting it")
                unit.signal(signal.SIGKILL)
            elif unit.state == "running" and earlier != "running":
                self.say(f"{unit.name} ready after {now - self._began:.1f} s" if not self.serving else f"{unit.name} ready")

    def _start(self, unit: Unit, now: float) -> None:
        try:
            unit.start(now)
        except OSError as error:
            # A full disk or too many open files must not end the supervisor of a console that serves.
            if not self.serving:
                raise
            self.say(f"{unit.name} could not be started: {error.strerror}")
            unit.ended(now, 1)
        if self.follower:
            self.follower.add(unit.log)

    def _needs_met(self, unit: Unit) -> bool:
        return all(other.state in ("running", "done") for other in self.units if other.process.name in unit.process.needs)

    def _reap(self) -> None:
        """Take in every child that ended: ours, and orphans of ours that came to us."""
        while True:
            try:
                found = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
            except ChildProcessError:
                return
            if found is None:
                return
            unit = next((unit for unit in self.units if unit.pid == found.si_pid), None)
            if unit is not None:
                unit.signal(signal.SIGKILL)  # what is left of its group; its id cannot be reused before we reap it
            _, status = os.waitpid(found.si_pid, 0)
            if unit is not None:
                self._ended(unit, os.waitstatus_to_exitcode(status))
            elif self._guard is not None and found.si_pid == self._guard.pid:
                self._guard.returncode = os.waitstatus_to_exitcode(status)
                if not self._stop_asked:
                    self._set_guard()

    def _ended(self, unit: Unit, code: int) -> None:
        unit.ended(time.monotonic(), code)
        if self._stop_asked:
            unit.halt()
            return
        if unit.state == "done":
            return
        how = f"was ended by signal {-code}" if code < 0 else f"ended with code {code}"
        if unit.state == "failed" or (not self.serving and unit.crashes >= _TRIES):
            words = last_line(unit.log)
            raise Fault(f"{unit.name} {how}{f': {words}' if words else ''} (see {unit.log})")
        self.say(f"{unit.name} {how}: restarting it")

    def _tend(self) -> None:
        """Logs and status. Nothing here may end the supervisor, a full disk least of all."""
        if self.follower:
            self.follower.show()
        now = time.monotonic()
        if now - self._rotated > 10:
            self._rotated = now
            for unit in self.units:
                rotate(unit.log)
        state = [
            {
                "name": unit.name,
                "state": unit.state,
                "pid": unit.pid,
                "restarts": unit.restarts,
                "since": unit.since,
                "port": self.plan.port_of(unit.process),
                "exit": unit.exit,
            }
            for unit in self.units
        ]
        if state != self._written:
            try:
                write_private(self.plan.folder.status, {"url": self.plan.url, "serving": self.serving, "processes": state})
                self._written = state
            except OSError:
                return

    def _levels(self) -> list[list[Unit]]:
        """Units by how far they are from needing nothing, the most dependent first."""
        depth: dict[str, int] = {}
        for process in self.plan.processes:  # declared after what they need
            depth[process.name] = 1 + max((depth[need] for need in process.needs), default=-1)
        return [
            [unit for unit in self.units if depth[unit.process.name] == level]
            for level in sorted(set(depth.values()), reverse=True)
        ]

    def _stop_all(self) -> None:
        self._stop_asked = max(1, self._stop_asked)
        began = self._stop_asked
        for level in self._levels():
            for unit in level:
                unit.signal(unit.stop_signal)
            deadline = time.monotonic() + max((unit.process.stop_within for unit in level), default=0)
            while any(unit.pid for unit in level):
                self._reap()
                if time.monotonic() > deadline or self._stop_asked > began + 1:  # a second Ctrl-C: now
                    for unit in level:
                        unit.signal(signal.SIGKILL)
                time.sleep(0.02)
            for unit in level:
                unit.halt()
        guard = self._guard.pid if self._guard else 0
        orphans = [one for one in psutil.Process().children(recursive=True) if one.pid != guard]
        end_all(orphans, (signal.SIGKILL,))  # those that left their group
        self._reap()


def announce(text: str) -> None:
    """One line of progress, at once."""
    try:
        sys.stdout.write(text + "\n")
        sys.stdout.flush()
    except (BrokenPipeError, ValueError):
        return
