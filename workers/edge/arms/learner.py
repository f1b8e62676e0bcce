"""The process that trains the policy beside the arms, at the lowest priority, and the weights it leaves for later starts."""

import logging
import subprocess
import sys
import time
from pathlib import Path

from workers.sims.policy import Trained, load
from workers.sims.training import Recipe, weights_of

_ROOT = Path(__file__).resolve().parents[3]
_LOOK_EVERY_S, _AGAIN_AFTER_S = 0.5, 60.0
_log = logging.getLogger(__name__)


class Learner:
    """Has the policy when it is there: from an earlier start at once, else as soon as it is trained."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._path = weights_of(folder, Recipe())
        self._process: subprocess.Popen[bytes] | None = None
        self._look_at = 0.0
        self.trained: Trained | None = None

    def look(self) -> Trained | None:
        """The policy, or None until there is one. Cheap: call it as often as wanted."""
        now = time.monotonic()
        if self.trained is None and now >= self._look_at:
            self._look_at = now + _LOOK_EVERY_S
            self._advance(now)
        return self.trained

    def _advance(self, now: float) -> None:
        if self._process is not None:
            status = self._process.poll()
            if status is None:
                return
            self._process = None
            if status:
                _log.error("training failed with status %d; arms go on by the expert", status)
                self._look_at = now + _AGAIN_AFTER_S
                return
        if self._path.exists():
            self._read(now)
        else:
            self._start()

    def _read(self, now: float) -> None:
        try:
            self.trained = load(self._path)
        except (OSError, ValueError) as error:
            _log.error("weights in %s are of no use and are set aside: %s", self._path, error)
            self._path.replace(self._path.with_suffix(".bad"))
            self._look_at = now
            return
        _log.info(
            "policy %s: %.0f %% of validation scenes, from %d demonstrations",
            *(self.trained.name, self.trained.success * 100, self.trained.demonstrations),
        )

    def _start(self) -> None:
        command = [sys.executable, "-m", "workers.sims.training", "--out", str(self._folder)]
        self._process = subprocess.Popen(command, cwd=_ROOT, stdin=subprocess.DEVNULL)
        _log.info("training the policy in process %d", self._process.pid)

    def close(self) -> None:
        """End training; the next start begins it anew."""
        if self._process is not None:
            self._process.terminate()
            try:
                self._process.wait(3.0)
            except subprocess.TimeoutExpired:
                self._process.kill()
