"""`manage.py up` and its kin against real engines, judged by the process list. The long form is in tests/faults."""

import contextlib
import json
import os
import re
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from tests.integration.console.deployment import Deployment, wait_for

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can make a folder of another owner, or mount a small disk")


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Deployment]:
    """One deployment that serves, shared by the tests that leave it serving."""
    deployment = Deployment(tmp_path_factory.mktemp("running") / "data")
    try:
        yield deployment.start()
    finally:
        deployment.stop()


@pytest.fixture
def fresh(tmp_path: Path) -> Iterator[Deployment]:
    """A deployment that was not started yet."""
    deployment = Deployment(tmp_path / "data")
    try:
        yield deployment
    finally:
        deployment.stop()


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of eight megabytes."""
    place = tmp_path / "disk"
    place.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=8m", "tmpfs", str(place)], capture_output=True, text=True, check=False
    )
    if mounted.returncode != 0:
        pytest.skip(f"a small disk cannot be mounted here: {mounted.stderr.strip()}")
    try:
        yield place
    finally:
        subprocess.run(["umount", str(place)], check=True)


def refused(deployment: Deployment, *words: str) -> str:
    """`up` must end by itself with one line on stderr, a code, and nothing left running. Returns the line."""
    ended = deployment.run("up", "--port", str(deployment.port), *words, within=30)
    assert ended.returncode not in (0, -signal.SIGKILL), ended.stdout
    lines = ended.stderr.strip().splitlines()
    assert len(lines) == 1, ended.stderr
    assert "Traceback" not in ended.stdout + ended.stderr
    return lines[0]


def test_serves_on_both_loopback_addresses_and_nowhere_else(running: Deployment) -> None:
    assert running.get() == 200
    assert running.get(port=running.port + 1) == 200
    with socket.create_connection(("::1", running.port), timeout=2):
        pass
    listening = {
        connection.laddr.ip
        for process in running.processes()
        for connection in process.net_connections("inet")
        if connection.status == "LISTEN"
    }
    assert listening <= {"127.0.0.1", "::1"}


def test_two_web_processes_share_the_port(running: Deployment) -> None:
    wait_for(lambda: running.pid_of("web-1") != 0 and running.pid_of("web-2") != 0, 10, "both web processes run")
    assert running.pid_of("web-1") != running.pid_of("web-2")


def test_status_tells_every_process(running: Deployment) -> None:
    found = running.state()
    assert {"postgres", "valkey", "roles", "web-1", "web-2", "gateway", "forking"} == set(found)
    assert found["postgres"]["memory"] > 10 * 2**20
    assert running.run("status").returncode == 0


def test_secrets_are_for_the_owner_only(running: Deployment) -> None:
    assert running.data.stat().st_mode & 0o077 == 0
    for name in (
        "secrets/secret_key",
        "secrets/postgres_app",
        "run/environment.json",
        "valkey/valkey.conf",
        "log/postgres.log",
    ):
        assert (running.data / name).stat().st_mode & 0o077 == 0, name
    secret = (running.data / "secrets/valkey").read_text()
    assert not any(secret in " ".join(process.cmdline()) for process in running.processes())


def test_runtime_role_may_not_define_and_has_time_limits(running: Deployment) -> None:
    import psycopg

    url = json.loads((running.data / "run/environment.json").read_text())["PILOTHOUSE_DATABASE_URL"]
    with psycopg.connect(url) as connection:
        assert connection.execute("SHOW transaction_timeout").fetchone() == ("30s",)
        assert connection.execute("SHOW idle_in_transaction_session_timeout").fetchone() == ("10s",)
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            connection.execute("CREATE TABLE refused (id int)")


def test_second_up_says_who_holds_the_folder(running: Deployment) -> None:
    other = Deployment(running.data)
    said = refused(other)
    assert str(running.pid()) in said
    assert "manage.py down" in said
    assert running.get() == 200


def test_taken_port_is_named(running: Deployment, fresh: Deployment) -> None:
    fresh.port = running.port
    assert f"Port {running.port} (web) is taken" in refused(fresh)
    fresh.port = running.port - 1  # its gateway would have the port that is taken
    assert f"Port {running.port} (gateway) is taken" in refused(fresh)
    fresh.gone(1)


@pytest.mark.parametrize("name", ["web-1", "gateway", "valkey", "forking", "postgres"])
def test_kill_9_of_one_process_is_recovered(running: Deployment, name: str) -> None:
    before = len(running.processes())
    running.kill(name)
    wait_for(lambda: running.get() == 200, 10, "serves")
    wait_for(lambda: len(running.processes()) <= before + 1, 10, "no more processes than before")
    assert int(str(running.state()[name]["restarts"])) >= 1


@pytest.mark.parametrize(
    ("change", "words"),
    [({"layout": 0}, "has layout 0"), ({"layout": 1, "postgres": 12}, "was made by PostgreSQL 12"), (None, "is damaged")],
)
def test_folder_of_another_version(fresh: Deployment, change: dict[str, int] | None, words: str) -> None:
    fresh.data.mkdir(mode=0o700)
    (fresh.data / "pilothouse.json").write_text("{" if change is None else json.dumps(change))
    assert words in refused(fresh)
    fresh.gone(1)


def test_folder_of_something_else(fresh: Deployment) -> None:
    fresh.data.mkdir()
    (fresh.data / "thesis.tex").write_text("years of work")
    assert "not Pilothouse's" in refused(fresh)
    assert [path.name for path in fresh.data.iterdir()] == ["thesis.tex"]


@needs_root
def test_folder_of_another_owner(fresh: Deployment) -> None:
    fresh.data.mkdir()
    os.chown(fresh.data, 12345, 12345)
    assert "belongs to user id 12345" in refused(fresh)


@needs_root
def test_full_disk(small_disk: Path) -> None:
    deployment = Deployment(small_disk / "data")
    assert "is full" in refused(deployment)
    (small_disk / "filler").write_bytes(b"0" * 7 * 2**20)
    assert "is full" in refused(Deployment(small_disk / "other"))
    deployment.gone(1)


@needs_root
def test_read_only_disk(small_disk: Path) -> None:
    (small_disk / "data").mkdir(mode=0o700)
    subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], check=True)
    assert "read-only" in refused(Deployment(small_disk / "data"))


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_folder_that_may_not_be_written_to(fresh: Deployment) -> None:
    fresh.data.mkdir(mode=0o500)
    assert "may not be written to" in refused(fresh)
    fresh.data.chmod(0o700)


@needs_root
def test_root_without_user_namespaces_is_asked_for_a_server(fresh: Deployment, tmp_path: Path) -> None:
    (tmp_path / "unshare").write_text("#!/bin/sh\nexit 1\n")
    (tmp_path / "unshare").chmod(0o755)
    (tmp_path / "setpriv").symlink_to("/bin/true")
    fresh.environment = {"PATH": str(tmp_path)}
    assert "PILOTHOUSE_DATABASE_URL" in refused(fresh)
    fresh.gone(1)


def test_a_server_elsewhere_is_used_instead(running: Deployment, fresh: Deployment) -> None:
    written = json.loads((running.data / "run/environment.json").read_text())
    wanted = ("PILOTHOUSE_DATABASE_URL", "PILOTHOUSE_MIGRATION_DATABASE_URL", "PILOTHOUSE_VALKEY_URL")
    fresh.environment = {name: written[name] for name in wanted}
    fresh.start()
    assert set(fresh.state()) == {"web-1", "web-2", "gateway", "forking"}
    mine = json.loads((fresh.data / "run/environment.json").read_text())
    assert {name: mine[name] for name in wanted} == fresh.environment
    assert not (fresh.data / "postgres").exists()


def test_unknown_part(fresh: Deployment) -> None:
    assert "there is no such part" in refused(fresh, "--with", "teapots")


def test_ctrl_c_leaves_no_process(fresh: Deployment) -> None:
    fresh.start()
    assert len(fresh.processes()) > 5
    began = time.monotonic()
    os.kill(fresh.pid(), signal.SIGINT)
    assert fresh.up is not None
    assert fresh.up.wait(12) == 0
    assert time.monotonic() - began < 10
    assert fresh.processes() == []
    assert fresh.run("status").returncode == 3


def test_kill_9_of_the_supervisor_and_of_everything(fresh: Deployment) -> None:
    fresh.start()
    os.kill(fresh.pid(), signal.SIGKILL)
    fresh.gone()
    fresh.stop()
    fresh.start()
    for process in fresh.processes():
        with contextlib.suppress(psutil.NoSuchProcess):  # it may have gone with its parent
            process.kill()
    fresh.gone(5)
    fresh.stop()
    assert (fresh.data / "postgres/data/postmaster.pid").exists(), "the lock of a killed server was left"
    written = next((fresh.data / "valkey/data").rglob("*.incr.aof"))
    written.write_bytes(b"*3\r\n$3\r\nSET\r\n$1\r\na\r\n$1\r\nb\r\n" + b"\0" * 64 + b"*1\r\n$4\r\nPING\r\n" * 9)
    fresh.start()
    assert fresh.get() == 200
    assert (fresh.data / "valkey/damaged").is_dir(), "a damaged Valkey file is set aside"
    assert fresh.run("down").returncode == 0
    fresh.gone(1)


def test_start_while_the_killed_one_still_stops(fresh: Deployment) -> None:
    fresh.start()
    os.kill(fresh.pid(), signal.SIGKILL)
    fresh.up = None
    fresh.start()  # at once: children of the killed one may still hold the ports
    assert fresh.get() == 200


def test_process_that_cannot_start_ends_up_with_its_reason(fresh: Deployment) -> None:
    fresh.environment = {"PILOTHOUSE_STANDIN_BROKEN": "1"}
    assert re.fullmatch(r"pilothouse: \S+ ended with code 1: .*broken on purpose.*", refused(fresh))
    fresh.gone(1)
