"""Migrations are named, linear, and change either the schema or the data."""

import ast
import re
from pathlib import Path

import pytest

from tests.architecture.tree import ROOT, Source, dotted, plant, sources

DATA = {"RunPython"}
ROWS = re.compile(r"(?im)^\s*(insert\s+into|update\s+\w+\s+set|delete\s+from)\b")


def _migrations(root: Path) -> list[Source]:
    return [source for source in sources(root, "apps") if source.kind == "migrations" and source.parts[-1] != "__init__"]


def badly_named(root: Path) -> list[str]:
    """Names that say a number and nothing else."""
    return [
        f"{source.rel}: name it by what it changes"
        for source in _migrations(root)
        if not re.fullmatch(r"\d{4}_[a-z][a-z0-9_]*", source.parts[-1]) or "_auto_" in source.parts[-1]
    ]


def branching(root: Path) -> list[str]:
    """Migrations of one app that are not a single numbered line."""
    found = []
    by_app: dict[str, list[Source]] = {}
    for source in _migrations(root):
        by_app.setdefault(source.app or "", []).append(source)
    for app, line in by_app.items():
        line.sort(key=lambda source: source.parts[-1])
        for number, source in enumerate(line, start=1):
            if not source.parts[-1].startswith(f"{number:04}_"):
                found.append(f"{source.rel}: number {number:04} comes next")
            own = [previous for label, previous in _dependencies(source) if label == app]
            expected = [line[number - 2].parts[-1]] if number > 1 else []
            if own != expected:
                found.append(f"{source.rel}: follows {own}, should follow {expected}")
    return found


def _dependencies(source: Source) -> list[tuple[str, str]]:
    for node in ast.walk(source.tree):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
        if any(isinstance(target, ast.Name) and target.id == "dependencies" for target in targets):
            pairs = [element for element in ast.walk(node.value) if isinstance(element, ast.Tuple)]
            return [tuple(ast.literal_eval(pair)) for pair in pairs if len(pair.elts) == 2]
    return []


def mixed(root: Path) -> list[str]:
    """Migrations that change schema and data in one file, or data ones that import from apps."""
    found = []
    for source in _migrations(root):
        calls = [dotted(node.func) for node in ast.walk(source.tree) if isinstance(node, ast.Call)]
        operations = {name.rpartition(".")[2] for name in calls if name.startswith("migrations.")}
        moves_rows = bool(operations & DATA) or any(ROWS.search(string) for string in source.strings)
        schema = operations - DATA - {"swappable_dependency"} - ({"RunSQL"} if moves_rows else set())
        if moves_rows and schema:
            found.append(f"{source.rel}: {', '.join(sorted(schema))} beside rows; make two migrations")
        if moves_rows and any(imported.name.startswith("apps.") for imported in source.imports):
            found.append(f"{source.rel}: a data migration imports from apps, which will change under it")
    return found


@pytest.mark.parametrize("rule", [badly_named, branching, mixed])
def test_the_tree_keeps_the_rule(rule):
    findings = rule(ROOT)
    assert not findings, "\n".join(findings)


HEAD = (
    "from django.db import migrations\nclass Migration(migrations.Migration):\n    dependencies = {}\n    operations = [{}]\n"
)


def _migration(follows: str, operations: str) -> str:
    return HEAD.format(f'[("a", "{follows}")]' if follows else "[]", operations)


@pytest.mark.parametrize(
    ("rule", "second"),
    [
        (badly_named, {"0002_auto_20261201_1000.py": _migration("0001_initial", "")}),
        (badly_named, {"0002.py": _migration("0001_initial", "")}),
        (branching, {"0003_skipped_one.py": _migration("0001_initial", "")}),
        (branching, {"0002_left.py": _migration("0001_initial", ""), "0003_right.py": _migration("0001_initial", "")}),
        (mixed, {"0002_both.py": _migration("0001_initial", "migrations.AddField(), migrations.RunPython(f)")}),
        (mixed, {"0002_both.py": _migration("0001_initial", "migrations.AddField(), migrations.RunSQL('UPDATE a SET b = 1')")}),
        (mixed, {"0002_rows.py": "from apps.a.models import A\n" + _migration("0001_initial", "migrations.RunPython(f)")}),
    ],
)
def test_a_planted_violation_is_caught(tmp_path, rule, second):
    whole = {"0001_initial.py": _migration("", "migrations.CreateModel()")} | second
    assert rule(plant(tmp_path, {f"apps/a/migrations/{name}": text for name, text in whole.items()})) != []


def test_a_clean_line_passes(tmp_path):
    line = {
        "0001_initial.py": _migration("", "migrations.CreateModel()"),
        "0002_fill_names.py": _migration("0001_initial", "migrations.RunSQL('UPDATE a SET b = 1')"),
        "0003_refuse_change.py": _migration("0002_fill_names", "migrations.RunSQL('CREATE TRIGGER t')"),
    }
    plant(tmp_path, {f"apps/a/migrations/{name}": text for name, text in line.items()})
    assert badly_named(tmp_path) + branching(tmp_path) + mixed(tmp_path) == []
