"""The base of every bridge: what must be right in each of them is here, once.

A bridge says what its subjects are, measure and do, and how motion ends. The base speaks to the console, ends motion on a
Stop and keeps it ended over restarts, carries out each order once, and keeps facts until they are taken.
"""

import contextlib
import fcntl
import logging
import os
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any

from workers.client import Client, SpoolFull
from workers.edge.base.config import Config
from workers.edge.base.orders import OrderRefused, Orders
from workers.edge.base.stops import Stops
from workers.edge.base.types import Doing, Shot
from workers.protocol import ClearStop, Described, Mode, Order, Rejected, StopNow, Welcome
from workers.protocol.facts import AnyBody

REPORT_EVERY_S = 2.0
SETTLE_S = 1.0  # after the first welcome: a Stop pressed while this bridge was away must arrive before anything moves
_log = logging.getLogger(__name__)


class AlreadyRuns(RuntimeError):
    """Another process has this state folder: two bridges must not move the same machines."""


class Bridge(ABC):
    """One process for some subjects. `step`, `sample`, `report`, `order` and `released` are called on one thread, in turn."""

    rate_hz = 10.0
    pictures_hz = 0.0
    step_within_s = 1.0  # a step that takes longer is taken for a fault: motion is ended
    software = "bridge"

    def __init__(self, config: Config, *, folder: Path, log: Path | None = None) -> None:
        """Raises OSError where the folder cannot be used, AlreadyRuns, and what `describe` raises."""
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._guard = _locked(folder / "lock")
        self.subjects = [one.subject for one in config.subjects]
        self.names = {one.subject: one.name or one.subject for one in config.subjects}
        described = [self.describe(subject) for subject in self.subjects]
        self.client = Client(config.identity(self.software), described, self, folder=folder / "spool", log=log)
        self.clock = self.client.device
        self.stops = Stops(
            folder,
            self,
            now_ms=self.clock.now_ms,
            fact=lambda subject, body: self.client.fact(subject, body, urgent=True),
            released=lambda subject: self._later(lambda: self.released(subject)),
        )
        self.orders = Orders(folder, self.client.console, self.order, self.client.fact)
        self._todo: SimpleQueue[Callable[[], None]] = SimpleQueue()
        self._ending = threading.Event()
        self._settled_at: float | None = None
        self._reported: dict[str, tuple[float, tuple[Any, ...]]] = {}
        self._spool_fault = self._hung = False
        self.late_steps = 0

    # What each bridge says for itself.

    @abstractmethod
    def describe(self, subject: str) -> Described:
        """What the subject is and measures."""

    @abstractmethod
    def sample(self, subject: str) -> Sequence[float | None]:
        """What its channels measure now; None for what is unknown."""

    @abstractmethod
    def report(self, subject: str) -> Doing:
        """What it does."""

    @abstractmethod
    def stop(self, subject: str) -> None:
        """End motion and let none begin while `may_move` says no. Called on the watchdog's thread: must return at once."""

    @abstractmethod
    def is_moving(self, subject: str) -> bool:
        """Whether it moves, as measured and not as commanded. Called on any thread: must return at once."""

    def prepare(self) -> None:  # noqa: B027 - not every bridge has something to do here
        """Make ready, before the first step."""

    def step(self) -> None:  # noqa: B027 - not every bridge has something to do here
        """One tick of control."""

    def pictures(self) -> Iterable[Shot]:
        """Pictures of all cameras, `pictures_hz` times a second. Called on a thread of its own, always the same."""
        return ()

    def released(self, subject: str) -> None:  # noqa: B027 - not every bridge has something to do here
        """No Stop holds it any more. Nothing moves by that: motion begins with a new episode."""

    def order(self, order: Order) -> str:
        """Carry out an order and return what to tell of it. Raises OrderRefused."""
        raise OrderRefused(f"This bridge knows no order {order.name}.")

    def close(self) -> None:  # noqa: B027 - not every bridge has something to do here
        """Let go of what `prepare` took."""

    # What the base offers.

    def may_move(self, subject: str) -> bool:
        """Whether motion may begin: no Stop holds it, the console was heard once since the start, facts can be kept."""
        settled = self._settled_at is not None and time.monotonic() >= self._settled_at
        return settled and not self.stops.latch.holds(subject) and not self._spool_fault and not self._hung

    def fact(self, subject: str, body: AnyBody, *, at_ms: int | None = None) -> bool:
        """Keep a fact; False when the spool is full, which is reported as a fault and keeps new motion from beginning."""
        try:
            self.client.fact(subject, body, at_ms=at_ms)
        except SpoolFull as error:
            if not self._spool_fault:
                _log.error("a fact was not kept: %s", error)
            self._spool_fault = True
            return False
        self._spool_fault = False
        return True

    def run(self) -> None:
        """Work until `end` is called."""
        self.prepare()
        self.stops.start(frozenset(self.subjects))
        self.client.start()
        pictures = threading.Thread(target=self._take_pictures, name="pictures", daemon=True)
        if self.pictures_hz > 0:
            pictures.start()
        try:
            self._control()
        finally:
            self._ending.set()
            for subject in self.subjects:  # whatever the reason: what nobody controls must not move
                self.stop(subject)
            if pictures.is_alive():
                pictures.join(5.0)
            self.stops.close()
            self.client.stop()
            self.orders.close()
            self.close()
            os.close(self._guard)

    def end(self) -> None:
        """End `run` after the step it is in."""
        self._ending.set()

    # What the client tells (workers.client.Listener).

    def welcomed(self, welcome: Welcome) -> None:
        """Connected: report everything anew."""
        if self._settled_at is None:
            self._settled_at = time.monotonic() + SETTLE_S
        self._reported.clear()

    def stop_now(self, message: StopNow) -> None:
        """A Stop arrived."""
        self.stops.stop_now(message)

    def clear_stop(self, message: ClearStop) -> None:
        """A Stop was cleared."""
        self.stops.clear_stop(message)

    def ordered(self, order: Order) -> None:
        """Somebody asks for something."""
        if order.subject in self.names:
            self._later(lambda: self.orders.carry_out(order))

    def rejected(self, rejected: Rejected) -> None:  # noqa: B027 - not every bridge has something to do here
        """A sample was not taken; the client logged it."""

    def _later(self, act: Callable[[], None]) -> None:
        self._todo.put(act)

    def _control(self) -> None:
        period = 1 / self.rate_hz
        due = time.monotonic()
        while not self._ending.is_set():
            self.stops.watchdog.expect("step", self.step_within_s, self._step_hangs)
            with contextlib.suppress(Empty):
                while True:
                    self._do(self._todo.get_nowait())
            self.step()
            self.stops.tick()
            self._hung = False
            self.stops.watchdog.forget("step")
            self._tell()
            due += period
            wait = due - time.monotonic()
            if wait < 0:
                self.late_steps += 1
                due = time.monotonic()
            self._ending.wait(max(wait, 0))

    def _do(self, act: Callable[[], None]) -> None:
        try:
            act()
        except SpoolFull as error:
            _log.error("a fact was not kept: %s", error)
        except Exception:  # noqa: BLE001 - one order that fails must not end control of all subjects
            _log.exception("an order failed")

    def _step_hangs(self, _name: str) -> None:
        _log.error("a step took longer than %.1f s: motion is ended", self.step_within_s)
        self._hung = True
        for subject in self.subjects:
            self.stop(subject)

    def _tell(self) -> None:
        for subject in self.subjects:
            at = self.clock.now_ms()
            self.client.state(subject, self.sample(subject), at_ms=at)
            self._tell_doing(subject, at)
        self.client.flush()

    def _tell_doing(self, subject: str, at_ms: int) -> None:
        doing, moving, latched = self.report(subject), self.is_moving(subject), self.stops.latch.of(subject)
        faults = [*doing.faults, *self.stops.faults(subject)]
        if self._spool_fault:
            faults.append("facts cannot be kept")
        words = dict(vars(doing))
        mode, step = words.pop("mode"), words.pop("step")
        del words["faults"]
        mode = Mode.STOPPED if latched and not moving else mode
        shown = (mode, *words.values(), moving, *latched, *faults)
        before, what = self._reported.get(subject, (0.0, ()))
        if what == shown and time.monotonic() - before < REPORT_EVERY_S:
            return
        self._reported[subject] = (time.monotonic(), shown)
        told = {"mode": mode, "step": step, "is_moving": moving, "latched": latched, "faults": faults}
        self.client.report(subject, at_ms=at_ms, **told, **words)

    def _take_pictures(self) -> None:
        period, due = 1 / self.pictures_hz, time.monotonic()
        while not self._ending.is_set():
            try:
                for shot in self.pictures():
                    self.client.picture(shot.subject, shot.camera, shot.jpeg, at_ms=shot.at_ms)
                    self.client.flush()
                    if self._ending.is_set():
                        return
            except Exception:  # noqa: BLE001 - a camera that fails must not end control
                _log.exception("taking pictures failed")
            due = max(due + period, time.monotonic())
            self._ending.wait(due - time.monotonic())


def _locked(path: Path) -> int:
    handle = os.open(path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(handle)
        raise AlreadyRuns(f"another bridge works with {path.parent}") from None
    return handle
