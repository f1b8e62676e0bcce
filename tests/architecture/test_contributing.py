"""The first sample change of CONTRIBUTING.md, done as it is written, gives an app that passes its own tests and ours."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.architecture.tree import ROOT

pytestmark = pytest.mark.timeout(300)  # it builds a tree and runs its tests
LEFT_OUT = shutil.ignore_patterns(
    ".git", ".venv", "var", "build", "node_modules", "__pycache__", ".*_cache", "vendor", "staticfiles", ".hypothesis"
)
EMPTY = re.compile(r"New file\s+`([^`]+)`: empty\.")
NEW = re.compile(r"New file\s+`([^`]+)`:\n\n```\w+\n(.*?)^```$", re.DOTALL | re.MULTILINE)
AFTER = re.compile(r"In\s+`([^`]+)`, after the line\s+with\s+`([^\n]+)`:\n\n```\w+\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def sample() -> str:
    """The text of the first sample change."""
    text = (ROOT / "CONTRIBUTING.md").read_text()
    return text[text.index("### 1. ") : text.index("### 2. ")]


def do(tree: Path, text: str) -> list[str]:
    """Write every file and line that the text asks for. Returns the paths."""
    done = []
    for name in EMPTY.findall(text):
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        (tree / name).write_text("")
        done.append(name)
    for name, content in NEW.findall(text):
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        (tree / name).write_text(content)
        done.append(name)
    for name, mark, content in AFTER.findall(text):
        lines = (tree / name).read_text().splitlines(keepends=True)
        places = [number for number, line in enumerate(lines) if mark in line]
        assert places, f"{name} has no line with {mark}"
        (tree / name).write_text("".join(lines[: places[0] + 1]) + content + "".join(lines[places[0] + 1 :]))
        done.append(name)
    return done


def run(tree: Path, *command: str) -> None:
    """Run one command of the recipe in the changed tree, with engines of its own."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PILOTHOUSE_", "PYTEST_", "DJANGO_"))}
    done = subprocess.run(
        [sys.executable, *command], cwd=tree, env=kept, capture_output=True, text=True, timeout=280, check=False
    )
    assert done.returncode == 0, f"{' '.join(command)}\n{done.stdout[-6000:]}\n{done.stderr[-2000:]}"


@pytest.fixture(scope="module")
def changed(tmp_path_factory) -> Path:
    tree = tmp_path_factory.mktemp("contributing") / "tree"
    shutil.copytree(ROOT, tree, ignore=LEFT_OUT, symlinks=True)
    (tree / "static" / "vendor").symlink_to(ROOT / "static" / "vendor")
    paths = do(tree, sample())
    assert len(paths) > 15
    run(tree, "manage.py", "makemigrations", "notices", "-n", "initial")
    run(tree, "manage.py", "spectacular", "--fail-on-warn", "--file", "tests/contract/api/openapi.yaml")
    return tree


def test_its_own_tests_and_those_of_the_tree_pass(changed):
    which = ["tests/integration/notices", "tests/integration/access", "tests/contract/api/test_schema.py"]
    which += [
        f"tests/architecture/test_{name}.py"
        for name in ("file_kinds", "front_doors", "import_contracts", "migrations", "templates")
    ]
    run(
        changed,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "-k",
        "notice or tree_keeps or in_the_tree or small_tree or every_model_has",
        *which,
    )


def test_its_style_types_and_imports_pass(changed):
    python = [name for name in re.findall(r"`((?:apps|tests)/[^`]+\.py)`", sample()) if "notice" in name]
    run(changed, "-m", "ruff", "check", "--no-cache", *sorted(set(python)))
    run(changed, "-m", "ruff", "format", "--no-cache", "--check", *sorted(set(python)))
    run(changed, "-c", "from importlinter.cli import lint_imports_command as run; run()", "--no-cache")
