"""Starting a child that cannot outlive us, and, for root, one that does not hold root's rights."""

import ctypes
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path

from console.embedded.faults import Fault

_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36
_LIBC = ctypes.CDLL(None, use_errno=True)
_NOBODY = 65534


def bound_to_parent(sent: signal.Signals = signal.SIGTERM) -> Callable[[], None]:
    """A `preexec_fn`: the child gets this signal when the thread that started it ends, however it ends."""
    parent = os.getpid()
    prctl, number = _LIBC.prctl, int(sent)

    def bind() -> None:
        prctl(_PR_SET_PDEATHSIG, number, 0, 0, 0)
        if os.getppid() != parent:  # the parent died between fork and prctl: nobody is left to send the signal
            os._exit(1)

    return bind


def adopt_orphans() -> None:
    """Make this process the new parent of every orphaned descendant, so that none can slip away."""
    _LIBC.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def release_orphans() -> None:
    """Undo `adopt_orphans`."""
    _LIBC.prctl(_PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0)


@cache
def unprivileged(sent: str = "INT") -> tuple[str, ...]:
    """Words to put before a command that refuses to run as root; empty for an ordinary user.

    A user namespace maps our own id to nobody's: the files stay ours, no account is added, no right is left. The
    parent-death signal is set again inside, because entering the namespace clears it.
    """
    if os.geteuid() != 0:
        return ()
    unshare, setpriv = shutil.which("unshare"), shutil.which("setpriv")
    words = (
        unshare or "unshare",
        "--user",
        f"--map-user={_NOBODY}",
        f"--map-group={_NOBODY}",
        setpriv or "setpriv",
        "--pdeathsig",
        sent,
    )
    if unshare and setpriv:
        tried = subprocess.run([*words, "true"], capture_output=True, timeout=10, check=False)
        if tried.returncode == 0:
            return words
    raise Fault(
        "PostgreSQL will not run as root and this machine forbids user namespaces: run as an ordinary user, "
        "or name a server with PILOTHOUSE_DATABASE_URL (and PILOTHOUSE_MIGRATION_DATABASE_URL)."
    )


def start(
    command: Sequence[str],
    *,
    cwd: Path,
    environment: dict[str, str],
    log: int,
    sent: signal.Signals = signal.SIGTERM,
    pass_fds: Sequence[int] = (),
) -> subprocess.Popen[bytes]:
    """Start a long-lived child in a session of its own. Call from the main thread only: the child is bound to it."""
    # preexec_fn is safe here: the hook only calls prctl and getppid, both bound before the fork.
    return subprocess.Popen(
        list(command),
        cwd=cwd,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=log,
        stderr=log,
        start_new_session=True,
        pass_fds=tuple(pass_fds),
        preexec_fn=bound_to_parent(sent),
    )


def minimal_environment() -> dict[str, str]:
    """What an engine needs and no more: none of our own settings or secrets."""
    path = os.environ.get("PATH", "/usr/local/bin:/usr/bin:/bin")
    return {"PATH": path, "LANG": "C.UTF-8", "LC_ALL": "C.UTF-8", "TZ": "UTC"}


def python() -> str:
    """The interpreter that runs us, for starting our own processes."""
    return sys.executable
