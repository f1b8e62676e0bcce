"""The data folder: what lies where, who may use it, which layout it has, and who holds it now."""

import errno
import fcntl
import json
import os
import pwd
import shutil
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

from console.embedded import postgres
from console.embedded.faults import Fault
from console.embedded.secret_files import SecretFolder

LAYOUT = 1
NEEDED_FIRST = 300 * 2**20  # a new cluster, its first write-ahead segments, and some room
NEEDED_LATER = 100 * 2**20


@dataclass(frozen=True)
class Holder:
    """The supervisor that holds a data folder."""

    pid: int
    started: float
    url: str

    def alive(self) -> psutil.Process | None:
        """Its process, if that very one still runs."""
        try:
            process = psutil.Process(self.pid)
            return process if abs(process.create_time() - self.started) < 1.0 else None
        except psutil.Error:
            return None


class DataFolder:
    """Paths and rules of one data folder."""

    def __init__(self, path: Path) -> None:
        self.path = path.expanduser().absolute()
        self.run = self.path / "run"
        self.log = self.path / "log"
        self.blobs = self.path / "blobs"
        self.marker = self.path / "pilothouse.json"
        self.environment = self.run / "environment.json"
        self.status = self.run / "status.json"
        self.accounts = self.run / "demo-accounts.json"
        self.secrets = SecretFolder(self.path / "secrets")
        self._lock: int | None = None

    def open(self) -> None:
        """Check or make the folder. Raises Fault with one clear line on anything that is not ours to use."""
        try:
            self._open()
        except OSError as error:
            raise as_fault(error, self.path) from error

    def _open(self) -> None:
        new = not self.path.exists()
        if new:
            self.path.mkdir(mode=0o700, parents=True)
        if not self.path.is_dir():
            raise Fault(f"{self.path} is a file, not a folder: give another folder with --data.")
        owner, ours = self.path.stat().st_uid, os.geteuid()
        if owner != ours:
            raise Fault(
                f"{self.path} belongs to {_user(owner)}, and this is {_user(ours)}: run as its owner, or give another --data."
            )
        known = self.read_marker()
        if known is None and self._holds_strange_files():
            raise Fault(f"{self.path} holds files that are not Pilothouse's: give an empty or new folder with --data.")
        if known is not None:
            self._check_version(known)
        probe = self.path / ".starting"
        probe.write_text("Pilothouse")  # shows that the folder can be written to
        self.path.chmod(0o700)
        for folder in (self.run, self.log, self.blobs):
            folder.mkdir(mode=0o700, exist_ok=True)
        if known is not None:
            probe.unlink()
        self._check_space(NEEDED_FIRST if known is None else NEEDED_LATER)

    def _holds_strange_files(self) -> bool:
        """Anything without our marker was made by somebody else, unless a first start was killed before writing it."""
        strange = any(entry.name not in {"run", "log", "static", "mail"} for entry in self.path.iterdir())
        return strange and not (self.path / ".starting").exists()

    def _check_version(self, known: dict[str, Any]) -> None:
        if known.get("layout") != LAYOUT:
            raise Fault(
                f"{self.path} has layout {known.get('layout')} and this Pilothouse uses layout {LAYOUT}: "
                "back it up with the version that made it, then restore into a new --data folder."
            )
        made, ours = known.get("postgres"), postgres.major()
        if made is not None and made != ours:
            raise Fault(
                f"{self.path} was made by PostgreSQL {made} and this is PostgreSQL {ours}: "
                "back it up with the version that made it, then restore into a new --data folder."
            )

    def _check_space(self, needed: int) -> None:
        free = shutil.disk_usage(self.path).free
        if free < needed:
            raise Fault(
                f"The disk of {self.path} is full: {free // 2**20} MB free, {needed // 2**20} MB needed. "
                "Free some space, or give another --data."
            )

    def read_marker(self) -> dict[str, Any] | None:
        """What the marker says, or None where there is none yet."""
        try:
            found = json.loads(self.marker.read_text())
        except FileNotFoundError:
            return None
        except ValueError:
            found = None
        if not isinstance(found, dict):
            raise Fault(f"{self.marker} is damaged: restore a backup into a new --data folder.")
        return found

    def update_marker(self, **values: Any) -> None:
        """Note facts about this folder that outlive a run."""
        known = self.read_marker() or {"layout": LAYOUT, "created": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())}
        write_private(self.marker, known | values)
        (self.path / ".starting").unlink(missing_ok=True)

    def lock(self) -> None:
        """Hold the folder until this process ends. The kernel lets go even after kill -9."""
        path = self.run / "lock"
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            os.close(handle)
            holder = self.holder()
            who = f"process {holder.pid} at {holder.url}" if holder else "another process"
            raise Fault(f"{self.path} is in use by {who}: stop it with `manage.py down --data {self.path}`.") from error
        self._lock = handle

    def unlock(self) -> None:
        """Let go."""
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def sign(self, url: str) -> None:
        """Write who holds the folder, for `down`, `status` and a second `up`."""
        mine = psutil.Process()
        write_private(self.run / "supervisor.json", {"pid": mine.pid, "started": mine.create_time(), "url": url})

    def holder(self) -> Holder | None:
        """Who holds the folder, if the process that signed it still runs. Raises Fault where that may not be known."""
        try:
            found = json.loads((self.run / "supervisor.json").read_text())
            holder = Holder(int(found["pid"]), float(found["started"]), str(found["url"]))
        except PermissionError as error:
            raise Fault(f"{self.path} may not be read by {_user(os.geteuid())}: run this as its owner.") from error
        except (OSError, ValueError, KeyError, TypeError):
            return None
        return holder if holder.alive() else None


def write_private(path: Path, value: Any) -> None:
    """Write JSON with mode 0600 so that a reader sees the old text or the new, never half."""
    partial = path.with_name(f".{path.name}.{os.getpid()}")
    with os.fdopen(os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
        json.dump(value, file, indent=1)
    partial.replace(path)


def as_fault(error: OSError, path: Path) -> Fault:
    """An operating-system error about the data folder, as one line with what to do."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return Fault(f"The disk of {path} is full: free some space, or give another --data.")
    if error.errno == errno.EROFS:
        return Fault(f"{path} is on a read-only disk: give another --data.")
    if error.errno in (errno.EACCES, errno.EPERM):
        return Fault(f"{error.filename or path} may not be written to by {_user(os.geteuid())}: give another --data.")
    return Fault(f"{error.filename or path}: {os.strerror(error.errno or 0)}.")


def _user(uid: int) -> str:
    try:
        return f"user {pwd.getpwuid(uid).pw_name}"
    except KeyError:
        return f"user id {uid}"
