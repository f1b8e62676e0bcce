"""The sample change that adds a bridge, done as it is written, gives a bridge that passes its own test and ours."""

import re
import shutil

import pytest

from tests.architecture.test_contributing import LEFT_OUT, do, run
from tests.architecture.tree import ROOT

pytestmark = pytest.mark.timeout(300)


def sample() -> str:
    """The text of the sample change."""
    text = (ROOT / "CONTRIBUTING.md").read_text()
    return text[text.index("### 11. ") : text.index("## Tests")]


@pytest.fixture(scope="module")
def changed(tmp_path_factory):
    tree = tmp_path_factory.mktemp("contributing") / "tree"
    shutil.copytree(ROOT, tree, ignore=LEFT_OUT, symlinks=True)
    assert do(tree, sample()) == ["workers/edge/turntable.py", "tests/integration/edge/test_turntable.py"]
    return tree


def test_it_is_about_a_hundred_lines(changed):
    assert len((changed / "workers/edge/turntable.py").read_text().splitlines()) <= 115


def test_its_own_test_passes(changed):
    run(changed, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/integration/edge/test_turntable.py")


def test_its_style_types_and_imports_pass(changed):
    paths = re.findall(r"New file `([^`]+)`", sample())
    run(changed, "-m", "ruff", "check", "--no-cache", *paths)
    run(changed, "-m", "ruff", "format", "--no-cache", "--check", *paths)
    run(changed, "-m", "mypy", "--cache-dir", str(changed / "mypy"), "workers/edge/turntable.py")
    run(changed, "-c", "from importlinter.cli import lint_imports_command as run; run()", "--no-cache")
