"""Log files of the processes: kept small, and shown on the console when asked."""

import os
import shutil
import sys
from pathlib import Path
from typing import TextIO

LARGEST = 20 * 2**20
KEPT = 3


def open_log(path: Path) -> int:
    """A descriptor that appends. The file outlives the supervisor, so the last words of a child are never lost."""
    rotate(path)
    return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)


def rotate(path: Path, largest: int = LARGEST) -> None:
    """Once it is large, copy a log aside and empty it in place: children keep the descriptor they have."""
    try:
        if path.stat().st_size < largest:
            return
        for number in range(KEPT - 1, 0, -1):
            older = path.with_name(f"{path.name}.{number}")
            if older.exists():
                older.replace(path.with_name(f"{path.name}.{number + 1}"))
        try:
            shutil.copyfile(path, path.with_name(f"{path.name}.1"))
        finally:
            os.truncate(path, 0)  # even if the copy failed on a full disk: the log must not be what fills it
    except OSError:
        return


def last_line(path: Path, within: int = 8192) -> str:
    """The last line that says something, for a message about a process that ended."""
    try:
        with path.open("rb") as file:
            file.seek(max(0, path.stat().st_size - within))
            lines = [line.strip() for line in file.read().decode(errors="replace").splitlines() if line.strip()]
    except OSError:
        return ""
    return lines[-1][:300] if lines else ""


class Follower:
    """Copies what is added to the logs onto the console, each line after the name of its process."""

    def __init__(self, out: TextIO = sys.stdout) -> None:
        self.out = out
        self._places: dict[Path, int] = {}

    def add(self, path: Path) -> None:
        """Follow from the present end of the file."""
        if path not in self._places:
            self._places[path] = path.stat().st_size if path.exists() else 0

    def show(self) -> None:
        """Print what was added since the last call."""
        for path, place in self._places.items():
            try:
                size = path.stat().st_size
                if size == place:
                    continue
                with path.open("rb") as file:
                    file.seek(place if size > place else 0)
                    added = file.read(256 * 1024)
                    self._places[path] = file.tell()
            except OSError:
                continue
            for line in added.decode(errors="replace").splitlines():
                self.out.write(f"{path.stem:>9} | {line}\n")
            self.out.flush()
