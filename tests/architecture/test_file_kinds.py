"""Every app has the same file names, from a closed list; no attic; no file too long to read."""

from pathlib import Path

import pytest

from tests.architecture.tree import EVERYTHING, ROOT, files, plant

KINDS = set(
    "types lifecycle events permissions models selectors projections services reactions forms serializers views api "
    "consumers tasks urls admin apps checks migrations management templatetags middleware".split()
)
# More by ADR 0012.
ALSO = {
    "realtime": {"topics"},
    "ingest": {"gateway", "mlflow", "otlp", "commands"},
    "dispatch": {"ports", "backends"},
    "traces": {"importers", "exporters"},
    "datasets": {"importers", "exporters"},
    "accounts": {"adapters", "authentication"},
    "telemetry": {"recording"},
}
# The kernel is no bounded context: its own closed list.
KERNEL = set(
    "access api apps checks clock errors filters forms htmx ids limits logs management metrics middleware origins pagination "
    "permissions problems selectors serializers tasks templatetags types urls views".split()
)
ATTICS = {"utils", "util", "helpers", "helper", "common", "misc", "manager", "managers", "stuff"}
LIMIT = 400


def strange_files(root: Path) -> list[str]:
    """Files and folders of apps that are not of a listed kind."""
    found = []
    for app in sorted(path for path in (root / "apps").iterdir() if path.is_dir() and path.name != "__pycache__"):
        allowed = KERNEL if app.name == "kernel" else KINDS | ALSO.get(app.name, set())
        for entry in sorted(app.iterdir()):
            if entry.name in {"__pycache__", "__init__.py", "README.md"}:
                continue
            if entry.stem not in allowed or not (entry.is_dir() or entry.suffix == ".py"):
                found.append(f"{entry.relative_to(root)}: not a listed kind of file")
    return found


def attics(root: Path) -> list[str]:
    """Files and folders named for nothing in particular."""
    return [
        f"{path.relative_to(root)}: name it by what it holds"
        for path in files(root, EVERYTHING, ".py")
        if {path.stem, *path.relative_to(root).parent.parts} & ATTICS
    ]


def too_long(root: Path) -> list[str]:
    """Files that should be a package by noun."""
    found = []
    for path in files(root, (*EVERYTHING, "templates", "static"), ".py", ".js", ".css", ".html"):
        lines = len(path.read_text().splitlines())
        if lines > LIMIT:
            found.append(f"{path.relative_to(root)}: {lines} lines, {LIMIT} are the limit")
    return found


@pytest.mark.parametrize("rule", [strange_files, attics, too_long])
def test_the_tree_keeps_the_rule(rule):
    findings = rule(ROOT)
    assert not findings, "\n".join(findings)


def test_a_strange_file_is_caught(tmp_path):
    plant(tmp_path, {"apps/accounts/logic.py": "", "apps/accounts/models.py": "", "apps/realtime/topics.py": ""})
    assert strange_files(tmp_path) == ["apps/accounts/logic.py: not a listed kind of file"]


def test_an_attic_is_caught(tmp_path):
    plant(tmp_path, {"apps/accounts/services/utils.py": "", "workers/helpers/speed.py": ""})
    assert [finding.partition(":")[0] for finding in attics(tmp_path)] == [
        "apps/accounts/services/utils.py",
        "workers/helpers/speed.py",
    ]


@pytest.mark.parametrize("name", ["apps/a/models.py", "static/js/b.js", "static/css/c.css", "templates/d.html"])
def test_a_long_file_is_caught(tmp_path, name):
    plant(tmp_path, {name: "\n" * LIMIT})
    assert too_long(tmp_path) == []
    plant(tmp_path, {name: "\n" * (LIMIT + 1)})
    assert len(too_long(tmp_path)) == 1
