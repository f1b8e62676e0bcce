"""Resolve requirements/*.in into the locks beside them, then package-lock.json. Run by `make lock`.

The console's set comes first and bounds the others, so that one virtual environment can hold all of them.
"""

import json
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "requirements"
LIMIT_S = 900
# Nothing of the machine that resolves may reach the lock: no addresses, no folders, no header with its command line.
OPTIONS = ("--strip-extras", "--no-emit-index-url", "--no-emit-find-links", "--no-emit-trusted-host", "--no-header")


def main() -> int:
    """Write every lock; `--upgrade` takes newer releases. Returns the exit status."""
    upgrade = [word for word in sys.argv[1:] if word == "--upgrade"]
    compile_lock("web", upgrade)
    # torch needs a newer setuptools than a fresh virtual environment has; the resolver leaves that out unless told.
    compile_lock("worker", ["-c", "web.txt", "--allow-unsafe", *upgrade])
    compile_lock("test", ["-c", "web.txt", *upgrade])
    compile_lock("npm", upgrade)
    print("lock: package-lock.json", flush=True)
    sys.path.insert(0, str(ROOT))
    from tools.vendor_assets import _environment, _npm

    npm = _npm()
    if npm is None:
        print("lock: no npm here, so package-lock.json stays as it is", file=sys.stderr)
        return 0
    command = [*npm, "install", "--package-lock-only", "--ignore-scripts", "--no-audit", "--no-fund"]
    subprocess.run(command, cwd=ROOT, check=True, timeout=LIMIT_S, env=_environment(npm), stdout=subprocess.DEVNULL)
    lock = ROOT / "package-lock.json"
    lock.write_text(clean_package_lock(lock.read_text()))
    return 0


def clean_package_lock(text: str) -> str:
    """The lock without addresses: where packages came from, and where their authors ask for money."""
    lock = json.loads(text)
    for package in lock["packages"].values():
        for name in ("resolved", "funding"):
            package.pop(name, None)
    return json.dumps(lock, indent=2, ensure_ascii=False) + "\n"


def compile_lock(name: str, more: list[str]) -> None:
    """Resolve one set. Versions already in its lock stay, unless they no longer fit or an upgrade is asked for."""
    print(f"lock: requirements/{name}.txt", flush=True)
    command = [sys.executable, "-m", "piptools", "compile", "--quiet", *OPTIONS, *more, "-o", f"{name}.txt", f"{name}.in"]
    subprocess.run(command, cwd=FOLDER, check=True, timeout=LIMIT_S)
    lock = FOLDER / f"{name}.txt"
    lock.write_text(clean(lock.read_text()))


def clean(text: str) -> str:
    """The lock without local version labels (`+cpu`): any build of that release will do. Nor the remark about pip itself."""
    text = re.sub(r"(?m)^# (The following packages are considered .*|pip|setuptools|wheel)\n?", "", text).rstrip("\n") + "\n"
    return re.sub(r"(?m)^([A-Za-z0-9._-]+==[^\s+;]+)\+\S+", r"\1", text)


if __name__ == "__main__":
    sys.exit(main())
