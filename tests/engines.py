"""One real PostgreSQL and one real Valkey for a test run, shared by all its workers."""

import json
import os
import shutil
import socket
import tempfile
from pathlib import Path

from console.embedded.postgres import Cluster
from console.embedded.valkey import Server

VARIABLE = "PILOTHOUSE_TEST_ENGINES"
RUNTIME = "PILOTHOUSE_TEST_RUNTIME_URL"  # tests themselves run as superuser; this is what a deployment runs as
OWNER = "PILOTHOUSE_MIGRATION_DATABASE_URL"


def free_port() -> int:
    """A loopback port nobody listens on now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class Engines:
    """Both engines in a temporary folder; `addresses` is what the settings read."""

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="pilothouse-test-"))
        self.postgres = Cluster(self.folder / "postgres", free_port(), durable=False, max_connections=100)
        self.valkey = Server(self.folder / "valkey", free_port())

    def start(self) -> dict[str, str]:
        """Start both and return the variables that name them."""
        self.postgres.start()
        self.postgres.create_database()
        self.valkey.start()
        return {
            "PILOTHOUSE_DATA": str(self.folder / "data"),
            "PILOTHOUSE_DATABASE_URL": self.postgres.url("postgres"),
            OWNER: self.postgres.url("pilothouse"),
            RUNTIME: self.postgres.url("pilothouse_app"),
            "PILOTHOUSE_VALKEY_URL": self.valkey.url(),
            "PILOTHOUSE_SECRET_KEY": "only-for-tests-0123456789-abcdefghijklmnopqrstuvwxyz",
            "PILOTHOUSE_HOSTS": "testserver,localhost,127.0.0.1",
        }

    def stop(self) -> None:
        """Stop both and remove the folder."""
        self.valkey.stop()
        self.postgres.stop()
        shutil.rmtree(self.folder, ignore_errors=True)


def share(engines: Engines) -> None:
    """Put the addresses into the environment, where the workers of this run find them."""
    addresses = engines.start()
    os.environ.update(addresses)
    os.environ[VARIABLE] = json.dumps(addresses)
    os.environ["DJANGO_SETTINGS_MODULE"] = "console.settings.test"


def shared() -> bool:
    """Whether this process belongs to a run that already has engines."""
    return VARIABLE in os.environ
