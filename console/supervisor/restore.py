"""`manage.py restore`: a new data folder from an archive. Nothing is in place until everything is."""

import glob
import os
import shutil
import subprocess
from pathlib import Path

from console.embedded import postgres
from console.embedded.faults import Fault
from console.supervisor import archive
from console.supervisor.backup import client_environment, free_port
from console.supervisor.folder import LAYOUT, DataFolder
from console.supervisor.supervision import announce


def restore(file: Path, target: DataFolder) -> int:
    """Check the archive, build the folder aside, and rename it into place."""
    if not file.is_file():
        raise Fault(f"{file} is not a file.")
    if target.path.exists() and (not target.path.is_dir() or any(target.path.iterdir())):
        raise Fault(f"{target.path} is not empty: restore into a new folder.")
    announce(f"Checking {file}")
    manifest = archive.verify(file)
    if manifest["layout"] != LAYOUT:
        raise Fault(f"{file} has layout {manifest['layout']} and this Pilothouse uses layout {LAYOUT}.")
    if manifest["postgres"] > postgres.major():
        raise Fault(f"{file} was made by PostgreSQL {manifest['postgres']} and this is PostgreSQL {postgres.major()}.")
    partial = DataFolder(target.path.with_name(f".{target.path.name}.{os.getpid()}.restoring"))
    target.path.parent.mkdir(parents=True, exist_ok=True)
    _forget_killed(target.path)
    try:
        partial.open()
        archive.unpack(file, partial.path)
        _load(partial)
        (partial.path / archive.DATABASE).unlink()
        partial.update_marker(postgres=postgres.major(), seeded=manifest["seeded"])
        if target.path.exists():
            target.path.rmdir()
        partial.path.rename(target.path)
    finally:
        shutil.rmtree(partial.path, ignore_errors=True)
    announce(f"Restored into {target.path}. Start it with `manage.py up --data {target.path}`.")
    return 0


def _forget_killed(target: Path) -> None:
    """Remove what earlier restores into this folder left when they were killed: it holds a database and secrets."""
    for left in target.parent.glob(f".{glob.escape(target.name)}.*.restoring"):
        number = left.name.removesuffix(".restoring").rpartition(".")[2]
        if number.isdigit() and not Path(f"/proc/{number}").exists():
            shutil.rmtree(left, ignore_errors=True)


def _load(folder: DataFolder) -> None:
    cluster = postgres.Cluster(folder.path / "postgres", free_port(), secrets=folder.secrets)
    with cluster.running():
        done = subprocess.run(
            [
                str(postgres.binaries() / "pg_restore"),
                "--exit-on-error",
                "--single-transaction",
                "--no-password",
                f"--dbname={postgres.DATABASE}",
                str(folder.path / archive.DATABASE),
            ],
            env=client_environment(cluster.url("postgres")),
            capture_output=True,
            text=True,
            timeout=3600,
            check=False,
        )
    if done.returncode != 0:
        raise Fault(f"The database could not be restored: {(done.stderr.strip().splitlines() or ['no reason given'])[-1]}")
