"""Finding and ending processes that a killed start left behind. Never by name alone.

A process counts as ours if its working folder is our cluster's, or if its environment carries the random mark that the
start recorded in the data folder. Both need the same user, and neither can be had by chance.
"""

import os
import signal
import time
from collections.abc import Iterable, Sequence
from pathlib import Path

import psutil

MARK = "PILOTHOUSE_RUN"


def working_in(folder: Path) -> list[psutil.Process]:
    """Processes of ours whose working folder is this one: a PostgreSQL server and its backends go to their data."""
    wanted = str(folder.resolve())
    return [process for process in _mine() if _cwd(process) == wanted]


def marked(mark: str) -> list[psutil.Process]:
    """Processes of ours, apart from this one, started with this mark in their environment."""
    wanted = f"{MARK}={mark}".encode()
    return [process for process in _mine() if wanted in _environment(process)]


def end_all(
    processes: Iterable[psutil.Process],
    signals: Sequence[signal.Signals] = (signal.SIGTERM, signal.SIGKILL),
    each: float = 3.0,
) -> None:
    """Send each signal in turn to those still there, waiting between. psutil checks start times: no reused id is hit."""
    left = list(processes)
    for sent in signals:
        for process in left:
            try:
                process.send_signal(sent)
            except psutil.NoSuchProcess:
                continue
        deadline = time.monotonic() + each
        while left and time.monotonic() < deadline:
            left = [process for process in left if _alive(process)]
            if left:
                time.sleep(0.05)
        if not left:
            return


def _alive(process: psutil.Process) -> bool:
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def _mine() -> Iterable[psutil.Process]:
    uid, own = os.geteuid(), os.getpid()
    for process in psutil.process_iter():
        try:
            if process.pid != own and process.uids().effective == uid:
                yield process
        except psutil.Error:
            continue


def _cwd(process: psutil.Process) -> str:
    try:
        return process.cwd()
    except (psutil.Error, OSError):
        return ""


def _environment(process: psutil.Process) -> list[bytes]:
    try:
        return Path(f"/proc/{process.pid}/environ").read_bytes().split(b"\0")
    except OSError:
        return []
