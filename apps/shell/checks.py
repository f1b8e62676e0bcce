"""Start-up checks: the front-end files are there and are the ones that were locked."""

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Error, register

_HINT = "Run `make setup`, or python tools/vendor_assets.py."


@register()
def vendor_files(app_configs: Sequence[Any] | None, **_rest: Any) -> list[CheckMessage]:
    """Every file of static/vendor/ has the digest its manifest gives, and each package says its licence."""
    return check_vendor(Path(settings.ROOT) / "static" / "vendor")


def check_vendor(folder: Path) -> list[CheckMessage]:
    """The faults of one vendor folder."""
    try:
        packages = json.loads((folder / "manifest.json").read_text())["packages"]
    except (OSError, ValueError, KeyError):
        return [Error("The front-end packages are missing.", hint=_HINT, id="shell.E001")]
    faults: list[CheckMessage] = [
        Error(f"{package['name']} names no licence.", hint=_HINT, id="shell.E003")
        for package in packages
        if not package.get("licence")
    ]
    for package in packages:
        faults += [
            Error(f"static/vendor/{path} is not the file that was locked.", hint=_HINT, id="shell.E002")
            for path, digest in package["files"].items()
            if _digest(folder / path) != digest
        ]
    return faults


def _digest(path: Path) -> str:
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError:
        return ""
