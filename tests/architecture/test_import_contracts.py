"""The import contracts of pyproject.toml hold, and each catches what it is there for."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.architecture.tree import ROOT, plant

APPS = sorted(path.parent.name for path in (ROOT / "apps").glob("*/__init__.py"))
CLEAN = {f"apps/{app}/__init__.py": "" for app in APPS} | {
    "apps/__init__.py": "",
    "apps/kernel/types.py": "",
    "console/__init__.py": "",
    "console/urls.py": "import apps.shell\n",
    "workers/__init__.py": "",
    "workers/protocol/__init__.py": "",
}


def contracts(folder: Path) -> subprocess.CompletedProcess[str]:
    """Run every contract on one tree."""
    code = "import sys; sys.path.insert(0, '.'); from importlinter.cli import lint_imports_command as run; run()"
    return subprocess.run(
        [sys.executable, "-c", code, "--no-cache", "--config", str(ROOT / "pyproject.toml")],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


def test_the_tree_keeps_every_contract():
    done = contracts(ROOT)
    assert done.returncode == 0, done.stdout


def test_a_clean_small_tree_passes(tmp_path):
    done = contracts(plant(tmp_path, CLEAN))
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("path", "text", "broken"),
    [
        ("apps/accounts/views.py", "import apps.shell\n", "Apps point downwards, and every app has a layer"),
        ("apps/journal/services.py", "from apps.accounts import models\n", "Apps point downwards, and every app has a layer"),
        ("apps/shell/views.py", "import apps.realtime\n", "Apps point downwards, and every app has a layer"),
        ("apps/attic/__init__.py", "", "Apps point downwards, and every app has a layer"),
        ("apps/shell/views.py", "import console.urls\n", "The project is above the apps, the protocol below"),
        ("workers/protocol/messages.py", "import apps.kernel\n", "The project is above the apps, the protocol below"),
        ("apps/ingest/views.py", "import workers.edge\n", "The web app sees only the protocol, and never torch or ray"),
        ("apps/ingest/views.py", "import torch\n", "The web app sees only the protocol, and never torch or ray"),
        ("workers/attic/__init__.py", "", "Inside workers"),
        ("workers/protocol/messages.py", "import workers.edge\n", "Inside workers"),
        ("workers/edge/robot.py", "import django\n", "Workers know nothing of the web"),
        ("apps/kernel/types.py", "import django\n", "Types and lifecycles are pure"),
    ],
)
def test_a_planted_import_is_caught(tmp_path, path, text, broken):
    edge = {"workers/edge/__init__.py": "", "apps/accounts/models.py": ""}
    done = contracts(plant(tmp_path, CLEAN | edge | {path: text}))
    assert done.returncode == 1, done.stdout + done.stderr
    assert f"{broken} BROKEN" in " ".join(done.stdout.split())


def test_the_protocol_may_be_seen(tmp_path):
    done = contracts(plant(tmp_path, CLEAN | {"apps/ingest/views.py": "import workers.protocol\n"}))
    assert done.returncode == 0, done.stdout
