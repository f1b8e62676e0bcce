"""What comes with a demo: its simulated arms, told where the gateway listens, left out where they cannot or shall not run."""

from pathlib import Path

import pytest

from console.embedded.faults import Fault
from console.processes import ARMS, DEMO, PROFILES, chosen
from console.supervisor import up as module
from console.supervisor.folder import DataFolder
from console.supervisor.plan import Plan


@pytest.fixture
def plan(tmp_path: Path) -> Plan:
    return Plan(DataFolder(tmp_path), chosen([DEMO]), 23000, demo=True, settings={})


def names(plan: Plan) -> set[str]:
    return {process.name for process in plan.processes}


def test_arms_come_with_the_demo_only() -> None:
    assert ARMS in chosen([DEMO])
    assert ARMS not in chosen()
    assert DEMO not in PROFILES  # nobody can ask for arms that no seed made


def test_they_are_told_where_the_gateway_listens_now(plan: Plan, tmp_path: Path) -> None:
    command = plan.start(ARMS).command
    assert command[command.index("--url") + 1] == "ws://localhost:23001/machine"
    assert command[command.index("--config") + 1] == str(tmp_path / "secrets" / "arms.json")
    assert not any("{" in word for word in command)


def test_they_are_left_out_on_request(plan: Plan) -> None:
    module._leave_out(plan, ["arms"])
    assert "arms" not in names(plan)


@pytest.mark.parametrize("name", ["gateway", "postgres", "legs"])
def test_nothing_else_is(plan: Plan, name: str) -> None:
    with pytest.raises(Fault, match="arms"):
        module._leave_out(plan, [name])
    assert "gateway" in names(plan)


def test_without_their_packages_the_console_starts_without_them(
    plan: Plan, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(module, "find_spec", lambda _name: None)
    module._leave_out(plan, [])
    assert "arms" not in names(plan)
    assert "make demo" in capsys.readouterr().out


def prepared(plan: Plan, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What `prepare` is asked for in a folder that a demo of this code prepared before; empty when it is left out."""
    monkeypatch.setattr(module, "fingerprint", lambda: "same")
    plan.folder.path.mkdir(exist_ok=True)
    monkeypatch.setattr(plan.folder, "read_marker", lambda: {"prepared": "same", "seeded": ["base", "demo"]})
    module._decide_preparation(plan)
    found = [process.command for process in plan.processes if process.name == "prepare"]
    return list(found[0][3:]) if found else []


def test_a_demo_of_an_earlier_version_gets_its_robots(plan: Plan, monkeypatch: pytest.MonkeyPatch) -> None:
    assert prepared(plan, monkeypatch) == ["--static", "--demo"]


def test_one_that_has_them_starts_without_preparing(plan: Plan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "secrets").mkdir()
    (tmp_path / "secrets" / "arms.json").write_text("{}")
    assert prepared(plan, monkeypatch) == []
