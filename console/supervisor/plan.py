"""From declarations to something to start: the command, environment, sockets and checks of each process."""

import os
import secrets
import shutil
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from console.embedded import postgres, valkey
from console.embedded.launch import minimal_environment
from console.embedded.leftovers import MARK, end_all, marked
from console.processes import Process, max_connections
from console.supervisor.addresses import Addresses
from console.supervisor.folder import DataFolder, write_private
from console.supervisor.health import http_status

ROOT = Path(__file__).resolve().parents[2]
_PASSED_ON = ("PATH", "HOME", "LANG", "LC_ALL", "TMPDIR", "SSL_CERT_FILE", "VIRTUAL_ENV")
_OWN = {"PILOTHOUSE_DATA", MARK}


@dataclass(frozen=True)
class Start:
    """Everything needed to start one process once."""

    command: tuple[str, ...]
    environment: dict[str, str]
    cwd: Path
    healthy: Callable[[], bool] | None  # None: alive is enough


class Plan:
    """What one `up` runs, in which folder, on which ports."""

    def __init__(
        self,
        folder: DataFolder,
        processes: Iterable[Process],
        port: int,
        *,
        demo: bool = False,
        settings: Mapping[str, str] | None = None,
    ) -> None:
        given = os.environ if settings is None else settings
        # What the caller set wins over what we would choose, so a server elsewhere takes the embedded one's place.
        self.given = {name: value for name, value in given.items() if name.startswith("PILOTHOUSE_") and name not in _OWN}
        self.folder = folder
        self.demo = demo
        self.port = port
        self.mark = secrets.token_hex(16)
        self.processes = self._without_external(processes)
        self.addresses: Addresses | None = None
        self.cluster: postgres.Cluster | None = None
        self.server: valkey.Server | None = None
        self.fingerprint = ""
        self._metrics = folder.run / "metrics"  # counters of the serving processes, added up at /metrics
        self.say: Callable[[str], None] = lambda _: None
        self.seeds: set[str] = set()

    def drop(self, name: str) -> None:
        """Leave a process out of this run, and out of what others wait for."""
        kept = (process for process in self.processes if process.name != name)
        self.processes = tuple(
            replace(process, needs=tuple(need for need in process.needs if need != name)) for process in kept
        )

    def extend(self, name: str, words: Iterable[str]) -> None:
        """Add words to a process's command for this run."""
        self.processes = tuple(
            replace(process, command=(*process.command, *words)) if process.name == name else process
            for process in self.processes
        )

    def _without_external(self, processes: Iterable[Process]) -> tuple[Process, ...]:
        gone: set[str] = set()
        if self.given.get("PILOTHOUSE_DATABASE_URL"):
            gone |= {"postgres", "roles"}
        if self.given.get("PILOTHOUSE_VALKEY_URL"):
            gone |= {"valkey"}
        kept = [process for process in processes if process.name not in gone]
        names = {process.name for process in kept}
        return tuple(replace(process, needs=tuple(need for need in process.needs if need in names)) for process in kept)

    @property
    def url(self) -> str:
        """Where people find the console."""
        return self.given.get("PILOTHOUSE_PUBLIC_URL") or f"http://localhost:{self.port}"

    def sweep(self) -> None:
        """End what an earlier start left running. Call only while holding the folder's lock."""
        record = self.folder.run / "mark"
        try:
            earlier = record.read_text().strip()
        except FileNotFoundError:
            earlier = ""
        if earlier:
            end_all(marked(earlier))
        postgres.Cluster(self.folder.path / "postgres", 0, secrets=self.folder.secrets).clear_leftovers()
        valkey.Server(self.folder.path / "valkey", 0, secrets=self.folder.secrets).clear_leftovers()
        record.write_text(self.mark)
        shutil.rmtree(self._metrics, ignore_errors=True)
        self._metrics.mkdir(mode=0o700)

    def claim_ports(self) -> None:
        """Open or choose every port."""
        self.addresses = Addresses(self.processes, self.port)

    def make_engines(self) -> None:
        """Prepare the embedded engines' folders, and write the settings of this run for every other command."""
        ports = self._ports()
        names = {process.name for process in self.processes}
        values: dict[str, str] = {}
        if "postgres" in names:
            self.cluster = postgres.Cluster(
                self.folder.path / "postgres",
                ports["postgres"],
                secrets=self.folder.secrets,
                max_connections=max_connections(self.processes),
            )
            self.cluster.prepare()
            values["PILOTHOUSE_DATABASE_URL"] = self.cluster.url("pilothouse_app")
            values["PILOTHOUSE_MIGRATION_DATABASE_URL"] = self.cluster.url("pilothouse")
        if "valkey" in names:
            self.server = valkey.Server(self.folder.path / "valkey", ports["valkey"], secrets=self.folder.secrets)
            self.server.prepare()
            values["PILOTHOUSE_VALKEY_URL"] = self.server.url()
        values |= {
            "PILOTHOUSE_SECRET_KEY": self.folder.secrets.read("secret_key"),
            "PILOTHOUSE_PUBLIC_URL": self.url,
            "PILOTHOUSE_GATEWAY_URL": self._gateway(),
            "PILOTHOUSE_HOSTS": "localhost,127.0.0.1,[::1]",
        }
        write_private(self.folder.environment, values | self.given)

    def start(self, process: Process, health_port: int = 0, health_fd: int | None = None) -> Start:
        """How to start a process now. Engines first end what their last run left."""
        if process.engine == "postgres" and self.cluster is not None:
            self.cluster.clear_leftovers()
            return Start(self.cluster.command(), self._engine_environment(), self.cluster.data, self.cluster.accepts)
        if process.engine == "valkey" and self.server is not None:
            self.server.clear_leftovers()
            aside = self.server.set_damaged_aside(self.folder.log / "valkey.log")
            if aside:
                self.say(f"valkey's file was damaged: it starts empty, the old one is in {aside}")
            return Start(self.server.command(), self._engine_environment(), self.server.data, self.server.answers)
        if process.engine == "roles" and self.cluster is not None:
            environment = self.cluster.roles_environment() | {MARK: self.mark}
            return Start(self.cluster.roles_command(), environment, self.folder.path, None)
        words = {
            "python": sys.executable,
            "data": str(self.folder.path),
            "run": str(self.folder.run),
            "gateway": self._gateway(),
        }
        command = [word.format(**words) if word.startswith("{") else word for word in process.command]
        for number in self.descriptors(process):
            command += ["--fd", str(number)]
        if health_fd is not None:
            command += ["--fd", str(health_fd)]
        healthy: Callable[[], bool] | None = None
        if process.health.kind == "http":
            path, wait = process.health.path, process.health.timeout

            def healthy() -> bool:
                return http_status(health_port, path, wait) == 200

        return Start(tuple(command), self._environment(process), ROOT, healthy)

    def descriptors(self, process: Process) -> list[int]:
        """Numbers of the listening sockets a process is given."""
        opened = self.addresses.sockets.get(process.name, []) if self.addresses else []
        return [one.fileno() for one in opened]

    def ready(self) -> bool:
        """Does the whole console say it is ready?"""
        web = self._ports().get("web")
        return web is None or http_status(web, "/readyz") == 200

    def _gateway(self) -> str:
        return f"ws://localhost:{self._ports().get('gateway', self.port + 1)}"

    def _ports(self) -> dict[str, int]:
        return dict(self.addresses.ports) if self.addresses else {}

    def port_of(self, process: Process) -> int | None:
        """The port people or other processes use it by."""
        return self._ports().get(process.name)

    def _engine_environment(self) -> dict[str, str]:
        return minimal_environment() | {MARK: self.mark}

    def _environment(self, process: Process) -> dict[str, str]:
        kept = {name: os.environ[name] for name in _PASSED_ON if name in os.environ}
        made = kept | self.given | dict(process.environment)
        made |= {
            "DJANGO_SETTINGS_MODULE": os.environ.get("DJANGO_SETTINGS_MODULE", "console.settings.embedded"),
            "PILOTHOUSE_DATA": str(self.folder.path),
            "PYTHONUNBUFFERED": "1",
            MARK: self.mark,
        }
        if process.name == "prepare":
            # The runtime role cannot make tables. Only this process gets the owner's address as its own.
            owner = self.given.get("PILOTHOUSE_MIGRATION_DATABASE_URL")
            if owner is None and self.cluster is not None:
                owner = self.cluster.url("pilothouse")
            if owner:
                made["PILOTHOUSE_DATABASE_URL"] = owner
        if process.pool:
            made["PILOTHOUSE_POOL_SIZE"] = str(process.pool)
        if process.listen is not None:
            made["PROMETHEUS_MULTIPROC_DIR"] = str(self._metrics)
        return made
