"""A thread that looks every 20 ms, by a clock that nobody can set, whether motion has to end."""

import logging
import threading
import time
from collections.abc import Callable

EVERY_S = 0.020
_log = logging.getLogger(__name__)


class Watchdog:
    """Runs `look` every 20 ms and at once when woken. Deadlines armed with `expect` fire once unless fed in time."""

    def __init__(self, look: Callable[[], None]) -> None:
        self._look = look
        self._woken = threading.Event()
        self._ending = threading.Event()
        self._lock = threading.Lock()
        self._limits: dict[str, tuple[float, float, Callable[[str], None]]] = {}  # name: fed at, limit, what to do
        self.late_s = 0.0  # the longest time between two looks
        self._thread = threading.Thread(target=self._run, name="watchdog", daemon=True)

    def start(self) -> None:
        """Begin to look."""
        self._thread.start()

    def stop(self) -> None:
        """Look no more."""
        self._ending.set()
        self._woken.set()
        if self._thread.is_alive():
            self._thread.join(1.0)

    def wake(self) -> None:
        """Look now."""
        self._woken.set()

    def expect(self, name: str, within_s: float, otherwise: Callable[[str], None]) -> None:
        """Call `otherwise(name)`, once, if `feed(name)` stays away for longer than this."""
        with self._lock:
            self._limits[name] = (time.monotonic(), within_s, otherwise)

    def feed(self, name: str) -> None:
        """What was expected happened; the next is expected within the same time."""
        with self._lock:
            known = self._limits.get(name)
            if known is not None:
                self._limits[name] = (time.monotonic(), *known[1:])

    def forget(self, name: str) -> None:
        """Expect it no more."""
        with self._lock:
            self._limits.pop(name, None)

    def _run(self) -> None:
        before = time.monotonic()
        while not self._ending.is_set():
            self._woken.wait(EVERY_S)
            self._woken.clear()
            now = time.monotonic()
            self.late_s, before = max(self.late_s, now - before), now
            self._fire(now)
            try:
                self._look()
            except Exception:  # noqa: BLE001 - the watch goes on whatever one look met
                _log.exception("a look of the watchdog failed")

    def _fire(self, now: float) -> None:
        with self._lock:
            due = [(name, otherwise) for name, (fed, within, otherwise) in self._limits.items() if now - fed > within]
            for name, _ in due:
                del self._limits[name]
        for name, otherwise in due:
            try:
                otherwise(name)
            except Exception:  # noqa: BLE001 - one action that fails must not keep the others from theirs
                _log.exception("what the watchdog does about %s failed", name)
