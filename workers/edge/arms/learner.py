"""The process that trains the policy beside the arms, at the lowest priority, and the weights it leaves for later starts."""

import logging
import subprocess
import sys
import threading
from pathlib import Path

from workers.sims.policy import Trained, load, warm_up
from workers.sims.training import Recipe, weights_of

_ROOT = Path(__file__).resolve().parents[3]
_AGAIN_AFTER_S = 60.0
_log = logging.getLogger(__name__)


class Learner:
    """Has the policy when it is there: from an earlier start at once, else as soon as it is trained.

    It waits, reads and tries the weights on a thread of its own, so that no step of control does.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._path = weights_of(folder, Recipe())
        self._process: subprocess.Popen[bytes] | None = None
        self._ending = threading.Event()
        self._thread = threading.Thread(target=self._run, name="learner", daemon=True)
        self.trained: Trained | None = None  # may be read at any time

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def close(self) -> None:
        """End training; the next start begins it anew."""
        self._ending.set()
        process = self._process
        if process is not None and process.poll() is None:
            process.terminate()
        if self._thread.is_alive():
            self._thread.join(3.0)

    def _run(self) -> None:
        while self.trained is None and not self._ending.is_set():
            try:
                if not self._path.exists():
                    self._train()
                self.trained = self._read()
            except (OSError, ValueError, subprocess.SubprocessError) as error:
                if not self._ending.is_set():
                    _log.error("no policy yet, arms go on by the expert: %s", error)
                    self._ending.wait(_AGAIN_AFTER_S)

    def _train(self) -> None:
        command = [sys.executable, "-m", "workers.sims.training", "--out", str(self._folder)]
        self._process = subprocess.Popen(command, cwd=_ROOT, stdin=subprocess.DEVNULL)
        _log.info("training the policy in process %d", self._process.pid)
        status = self._process.wait()
        if status:
            raise subprocess.CalledProcessError(status, command)

    def _read(self) -> Trained:
        try:
            trained = load(self._path)
        except ValueError:
            self._path.replace(self._path.with_suffix(".bad"))
            raise
        warm_up(trained.policy)
        _log.info(
            "policy %s: %.0f %% of validation scenes, from %d demonstrations",
            *(trained.name, trained.success * 100, trained.demonstrations),
        )
        return trained
