"""Backup and restore against a real database, and archives that were damaged or made by somebody else."""

import io
import json
import os
import subprocess
import sys
import tarfile
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from console.embedded.faults import Fault
from console.supervisor import archive
from tests.integration.console.deployment import Deployment


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Deployment, Path]]:
    """A deployment with one row and one blob, backed up while it serves; then stopped."""
    folder = tmp_path_factory.mktemp("saved")
    deployment = Deployment(folder / "data").start()
    try:
        with psycopg.connect(url(deployment, "PILOTHOUSE_MIGRATION_DATABASE_URL")) as connection:
            connection.execute("CREATE TABLE kept (id bigserial PRIMARY KEY, word text)")
            connection.execute("INSERT INTO kept (word) VALUES ('lantern')")
            connection.execute("CREATE TABLE journal (id int)")
            connection.execute("REVOKE UPDATE, DELETE ON journal FROM pilothouse_app")
        blob = deployment.data / "blobs/ab/abcdef"
        blob.parent.mkdir(parents=True)
        blob.write_bytes(b"a picture" * 1000)
        made = deployment.run("backup", str(folder / "one.tar"))
        assert made.returncode == 0, made.stderr
        yield deployment, folder / "one.tar"
    finally:
        deployment.stop()


def url(deployment: Deployment, name: str = "PILOTHOUSE_DATABASE_URL") -> str:
    """An address that the supervisor wrote."""
    return str(json.loads((deployment.data / "run/environment.json").read_text())[name])


def test_restored_folder_holds_the_same(saved: tuple[Deployment, Path], tmp_path: Path) -> None:
    source, file = saved
    copy = Deployment(tmp_path / "copy")
    done = copy.run("restore", str(file))
    assert done.returncode == 0, done.stderr
    assert (copy.data / "blobs/ab/abcdef").read_bytes() == b"a picture" * 1000
    assert (copy.data / "secrets/secret_key").exists() is False, "the key is made anew at the next start"
    try:
        copy.start()
        with psycopg.connect(url(copy)) as connection:
            assert connection.execute("SELECT word FROM kept").fetchall() == [("lantern",)]
            connection.execute("INSERT INTO kept (word) VALUES ('rope')")
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                connection.execute("DELETE FROM journal")
        assert (copy.data / "secrets/secret_key").read_text() != (source.data / "secrets/secret_key").read_text()
    finally:
        copy.stop()
    again = copy.run("restore", str(file))
    assert again.returncode == 1
    assert "is not empty" in again.stderr


def test_backup_of_a_stopped_folder_with_its_secret(saved: tuple[Deployment, Path], tmp_path: Path) -> None:
    _, file = saved
    copy = Deployment(tmp_path / "copy")
    assert copy.run("restore", str(file)).returncode == 0
    (copy.data / "secrets/secret_key").write_text("known")
    done = copy.run("backup", str(tmp_path / "two.tar"), "--with-secrets")
    assert done.returncode == 0, done.stderr
    copy.gone(1)
    third = Deployment(tmp_path / "third")
    assert third.run("restore", str(tmp_path / "two.tar")).returncode == 0
    assert (third.data / "secrets/secret_key").read_text() == "known"
    assert (third.data / "secrets/secret_key").stat().st_mode & 0o077 == 0


def test_restore_removes_what_a_killed_one_left(saved: tuple[Deployment, Path], tmp_path: Path) -> None:
    _, file = saved
    ended = subprocess.run([sys.executable, "-c", "import os; print(os.getpid())"], capture_output=True, text=True, check=True)
    left, running = (tmp_path / f".new.{number}.restoring" for number in (ended.stdout.strip(), os.getpid()))
    for folder in (left, running):
        folder.mkdir()
    assert Deployment(tmp_path / "new").run("restore", str(file)).returncode == 0
    assert (left.exists(), running.exists()) == (False, True)


def test_backup_never_replaces_a_file(saved: tuple[Deployment, Path]) -> None:
    source, file = saved
    before = file.read_bytes()
    done = source.run("backup", str(file))
    assert done.returncode == 1
    assert "exists" in done.stderr
    assert file.read_bytes() == before
    assert [path.name for path in file.parent.iterdir() if path.name.startswith(".")] == []


def test_every_damaged_byte_is_found(saved: tuple[Deployment, Path], tmp_path: Path) -> None:
    _, file = saved
    whole = file.read_bytes()
    with tarfile.open(file) as opened:
        places = {info.name: info.offset_data for info in opened}
        sizes = {info.name: info.size for info in opened}
    broken = tmp_path / "broken.tar"
    for name, place in places.items():
        for offset in (0, sizes[name] // 2, sizes[name] - 1):
            changed = bytearray(whole)
            changed[place + offset] ^= 1
            broken.write_bytes(changed)
            expected = "manifest.json" if name.startswith("manifest") else name
            with pytest.raises(Fault, match=expected):
                archive.verify(broken)
    broken.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(Fault, match="damaged"):
        archive.verify(broken)
    target = Deployment(tmp_path / "target")
    done = target.run("restore", str(broken))
    assert done.returncode == 1
    assert len(done.stderr.strip().splitlines()) == 1
    assert list(tmp_path.glob("*target*")) == []


@pytest.mark.parametrize(
    "name",
    [
        "../outside",
        "/etc/passwd",
        "blobs/../../outside",
        "blobs/.hidden",
        "blobs//x",
        "secrets/other",
        "blobs/a\nb",
        "run/mark",
    ],
)
def test_strange_names_are_refused(tmp_path: Path, name: str) -> None:
    assert "does not belong" in refusal(tmp_path, tarfile.TarInfo(name))


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.FIFOTYPE, tarfile.DIRTYPE])
def test_strange_kinds_are_refused(tmp_path: Path, kind: bytes) -> None:
    info = tarfile.TarInfo("blobs/link")
    info.type, info.linkname = kind, "/etc/passwd"
    assert "does not belong" in refusal(tmp_path, info)


def test_a_member_twice_is_refused(tmp_path: Path) -> None:
    assert "twice" in refusal(tmp_path, tarfile.TarInfo("blobs/a"), tarfile.TarInfo("blobs/a"))


def refusal(folder: Path, *members: tarfile.TarInfo) -> str:
    """What verify says about an archive of these members."""
    file = folder / "strange.tar"
    with tarfile.open(file, "w") as opened:
        for info in members:
            opened.addfile(info, io.BytesIO(b""))
    with pytest.raises(Fault) as caught:
        archive.verify(file)
    return str(caught.value)
