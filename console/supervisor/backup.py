"""`manage.py backup`: database and files of a data folder in one archive, while it runs or stands still."""

import json
import os
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import unquote, urlsplit

from console.embedded import postgres
from console.embedded.faults import Fault
from console.embedded.launch import minimal_environment
from console.supervisor import archive
from console.supervisor.folder import LAYOUT, DataFolder
from console.supervisor.supervision import announce


def backup(folder: DataFolder, file: Path, *, with_secrets: bool) -> int:
    """Write the archive. The database goes first: files it names are never younger than it."""
    file = file.absolute()
    if file.exists():
        raise Fault(f"{file} exists: give another name.")
    if not file.parent.is_dir():
        raise Fault(f"{file.parent} is not a folder.")
    marker = folder.read_marker() if folder.path.is_dir() else None
    if marker is None:
        raise Fault(f"{folder.path} holds no Pilothouse: give its folder with --data.")
    with tempfile.TemporaryDirectory(prefix=".backup-", dir=file.parent) as scratch:
        dump = Path(scratch) / archive.DATABASE
        with _database(folder) as url:
            _dump(url, dump)
        facts = {
            "layout": LAYOUT,
            "postgres": postgres.major(),
            "made": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
            "seeded": marker.get("seeded", []),
            "secrets": with_secrets,
        }
        size = archive.write(file, _files(folder, dump, with_secrets=with_secrets), facts)
    announce(f"Wrote {file} ({size / 2**20:.1f} MB).")
    if not with_secrets:
        announce("It holds no secret keys: after a restore everybody signs in again, and another key seals the journal.")
        announce("--with-secrets includes them.")
    return 0


def _files(folder: DataFolder, dump: Path, *, with_secrets: bool) -> Iterator[tuple[str, Path]]:
    yield archive.DATABASE, dump
    if with_secrets:
        yield archive.SECRET, folder.secrets.path("secret_key")
        if (folder.path / archive.SEAL_KEY).is_file():
            yield archive.SEAL_KEY, folder.path / archive.SEAL_KEY
    for path in sorted(folder.blobs.rglob("*")):
        if path.is_file() and not path.is_symlink() and not path.name.startswith("."):  # dotted: still being written
            yield f"blobs/{path.relative_to(folder.blobs)}", path


@contextmanager
def _database(folder: DataFolder) -> Iterator[str]:
    """The owner's address of the database; the embedded server is started for this if nothing runs."""
    try:
        written = json.loads(folder.environment.read_text())
    except (OSError, ValueError):
        written = {}
    embedded = (folder.path / "postgres" / "data" / "PG_VERSION").exists()
    url = written.get("PILOTHOUSE_MIGRATION_DATABASE_URL") or written.get("PILOTHOUSE_DATABASE_URL")
    if folder.holder() is not None or (url and not embedded):
        if not url:
            raise Fault("The console is still starting: try again when it serves.")
        yield str(url)
        return
    folder.open()
    folder.lock()
    try:
        cluster = postgres.Cluster(folder.path / "postgres", free_port(), secrets=folder.secrets)
        cluster.start()
        try:
            yield cluster.url("pilothouse")
        finally:
            cluster.stop()
    finally:
        folder.unlock()


def free_port() -> int:
    """A port that nobody has now."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def client_environment(url: str) -> dict[str, str]:
    """Environment for PostgreSQL's programs: a password on a command line could be read by everybody."""
    parts = urlsplit(url)
    return minimal_environment() | {
        "PGHOST": parts.hostname or "127.0.0.1",
        "PGPORT": str(parts.port or 5432),
        "PGUSER": unquote(parts.username or ""),
        "PGPASSWORD": unquote(parts.password or ""),
        "PGDATABASE": parts.path.lstrip("/"),
        "PGCONNECT_TIMEOUT": "5",
    }


def _dump(url: str, target: Path) -> None:
    with os.fdopen(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as out:
        done = subprocess.run(
            [str(postgres.binaries() / "pg_dump"), "--format=custom", "--no-password"],
            env=client_environment(url),
            stdout=out,
            stderr=subprocess.PIPE,
            text=True,
            timeout=3600,
            check=False,
        )
    if done.returncode != 0:
        raise Fault(f"The database could not be dumped: {(done.stderr.strip().splitlines() or ['no reason given'])[-1]}")
