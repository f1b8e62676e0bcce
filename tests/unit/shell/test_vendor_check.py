"""The start-up check finds a front-end file that is missing, changed, or without a licence."""

import json
import re
import shutil
from pathlib import Path

import pytest
from django.conf import settings

from apps.shell.checks import check_vendor


@pytest.fixture
def vendor(tmp_path: Path) -> Path:
    return Path(shutil.copytree(Path(settings.ROOT) / "static" / "vendor", tmp_path / "vendor"))


def test_what_set_up_made_is_in_order(vendor: Path) -> None:
    assert check_vendor(vendor) == []


def test_a_changed_file_is_found(vendor: Path) -> None:
    changed = next(vendor.glob("tinykeys-*/tinykeys.module.js"))
    changed.write_text(changed.read_text() + " ")
    assert [fault.id for fault in check_vendor(vendor)] == ["shell.E002"]


def test_a_missing_file_is_found(vendor: Path) -> None:
    next(vendor.glob("inter-*/*.woff2")).unlink()
    assert [fault.id for fault in check_vendor(vendor)] == ["shell.E002"]


def test_a_package_without_licence_is_found(vendor: Path) -> None:
    manifest = json.loads((vendor / "manifest.json").read_text())
    manifest["packages"][0]["licence"] = ""
    (vendor / "manifest.json").write_text(json.dumps(manifest))
    assert [fault.id for fault in check_vendor(vendor)] == ["shell.E003"]


def test_an_empty_folder_is_found(tmp_path: Path) -> None:
    assert [fault.id for fault in check_vendor(tmp_path)] == ["shell.E001"]


def test_every_package_brings_its_licence_text(vendor: Path) -> None:
    for package in json.loads((vendor / "manifest.json").read_text())["packages"]:
        assert any(Path(name).name == "LICENSE" for name in package["files"]), package["name"]


def test_the_versions_in_templates_and_styles_are_the_locked_ones() -> None:
    root = Path(settings.ROOT)
    folders = {path.name for path in (root / "static" / "vendor").iterdir() if path.is_dir()}
    texts = [
        root / "static" / "css" / "tokens.css",
        *(root / "templates").rglob("*.html"),
        *(root / "apps" / "shell").rglob("*.py"),
    ]
    named = {found for path in texts for found in re.findall(r"vendor/([a-z-]+-\d+\.\d+\.\d+)/", path.read_text())}
    assert named and named <= folders
