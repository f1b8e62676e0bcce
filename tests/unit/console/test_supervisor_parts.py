"""Parts of the supervisor that can be judged alone."""

import io
import os
import socket
import stat
from pathlib import Path

import pytest

from console.embedded.faults import Fault
from console.embedded.secret_files import SecretFolder
from console.processes import BEAT, PROCESSES, WEB
from console.supervisor import logs
from console.supervisor.addresses import Addresses
from console.supervisor.folder import DataFolder, write_private
from console.supervisor.plan import Plan
from console.supervisor.serve import listening
from console.supervisor.supervision import Supervision
from console.supervisor.unit import Unit
from console.supervisor.up import accounts_table, fingerprint


def test_a_secret_is_made_once_and_private(tmp_path: Path) -> None:
    folder = SecretFolder(tmp_path / "secrets")
    value = folder.read("secret_key")
    assert len(value) >= 50
    assert SecretFolder(tmp_path / "secrets").read("secret_key") == value
    assert folder.path("secret_key").stat().st_mode & 0o777 == 0o600
    assert folder.folder.stat().st_mode & 0o777 == 0o700
    assert folder.read("valkey") != value


def test_an_emptied_secret_is_not_replaced(tmp_path: Path) -> None:
    folder = SecretFolder(tmp_path)
    folder.path("secret_key").write_text("")
    with pytest.raises(Fault, match="empty"):
        folder.read("secret_key")


def test_json_is_written_whole_and_private(tmp_path: Path) -> None:
    target = tmp_path / "facts.json"
    write_private(target, {"a": 1})
    assert stat.S_IMODE(target.stat().st_mode) == 0o600
    assert list(tmp_path.iterdir()) == [target]


def test_a_large_log_is_put_aside_and_writers_go_on(tmp_path: Path) -> None:
    path = tmp_path / "web.log"
    handle = logs.open_log(path)
    os.write(handle, b"x" * 100)
    logs.rotate(path, largest=50)
    os.write(handle, b"next")
    os.close(handle)
    assert path.read_bytes() == b"next"
    assert (tmp_path / "web.log.1").read_bytes() == b"x" * 100
    logs.rotate(path, largest=50)
    assert path.read_bytes() == b"next"


def test_follower_prefixes_lines_and_survives_rotation(tmp_path: Path) -> None:
    path, out = tmp_path / "web.log", io.StringIO()
    path.write_text("before\n")
    follower = logs.Follower(out)
    follower.add(path)
    with path.open("a") as file:
        file.write("after\n")
    follower.show()
    path.write_text("new\n")
    follower.show()
    assert [line.split("| ")[1] for line in out.getvalue().splitlines()] == ["after", "new"]


def test_listening_sockets_have_no_delay_and_only_loopback() -> None:
    with listening("127.0.0.1", 0) as opened:
        assert opened.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
        with socket.create_connection(opened.getsockname()) as _client:
            accepted, _ = opened.accept()
            with accepted:
                assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY), "what is accepted inherits it"


def test_an_inner_port_moves_aside_and_a_public_one_does_not() -> None:
    with listening("127.0.0.1", 0) as taken:
        port = taken.getsockname()[1]
        moved = Addresses([PROCESSES[0]], port - 2)
        assert moved.ports["postgres"] != port
        with pytest.raises(Fault, match=f"Port {port} .web. is taken"):
            Addresses([WEB], port)
    with pytest.raises(Fault, match="does not exist"):
        Addresses([WEB], 70000)


def test_a_server_elsewhere_takes_the_place_of_the_embedded_one(tmp_path: Path) -> None:
    settings = {"PILOTHOUSE_DATABASE_URL": "postgresql://a@b/c", "PILOTHOUSE_VALKEY_URL": "redis://d", "OTHER": "x"}
    plan = Plan(DataFolder(tmp_path), PROCESSES, 8000, settings=settings)
    names = {process.name for process in plan.processes}
    assert names.isdisjoint({"postgres", "valkey", "roles"})
    assert all(set(process.needs) <= names for process in plan.processes)
    assert "OTHER" not in plan.given


def test_waits_grow_between_crashes_and_the_schedule_is_discarded(tmp_path: Path) -> None:
    plan = Plan(DataFolder(tmp_path), [BEAT], 8000, settings={})
    unit = Unit(BEAT, 1, plan)
    waits = []
    for _ in range(12):
        unit.state = "running"
        unit.ended(100.0, 1)
        waits.append(unit._not_before - 100.0)
    assert 0.1 <= waits[0] <= 0.25
    assert waits[-1] <= 30
    assert waits[-1] > waits[0] * 10
    assert not unit.startable(100.0)
    assert unit.startable(131.0)


def test_stopping_goes_from_the_most_dependent_to_the_engines(tmp_path: Path) -> None:
    supervision = Supervision(Plan(DataFolder(tmp_path), PROCESSES, 8000, settings={}), lambda _: None)
    levels = [[unit.name for unit in level] for level in supervision._levels()]
    assert set(levels[0]) == {"arms"}
    assert set(levels[1]) == {"web-1", "web-2", "gateway", "worker", "beat", "tail"}
    assert set(levels[-1]) == {"postgres", "valkey"}


def test_fingerprint_follows_migrations_and_static_files(tmp_path: Path) -> None:
    (tmp_path / "apps/one/migrations").mkdir(parents=True)
    (tmp_path / "static").mkdir()
    before = fingerprint(tmp_path)
    assert fingerprint(tmp_path) == before
    (tmp_path / "apps/one/migrations/0001.py").write_text("x = 1")
    after = fingerprint(tmp_path)
    assert after != before
    (tmp_path / "static/a.css").write_text("a {}")
    assert fingerprint(tmp_path) != after


def test_accounts_are_shown_as_a_table(tmp_path: Path) -> None:
    path = tmp_path / "demo-accounts.json"
    assert accounts_table(path) == []
    write_private(path, [{"email": "ada@demo", "password": "long", "roles": ["viewer", "operator"]}])
    assert accounts_table(path)[-1].split() == ["ada@demo", "long", "viewer,", "operator"]


def test_a_stranger_is_not_told_that_nothing_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`down` and `status` by another user must not take a folder they cannot read for one that stands still."""

    def refuse(*_: object, **__: object) -> str:
        raise PermissionError(13, "Permission denied")

    assert DataFolder(tmp_path).holder() is None
    monkeypatch.setattr(Path, "read_text", refuse)
    with pytest.raises(Fault, match="as its owner"):
        DataFolder(tmp_path).holder()
