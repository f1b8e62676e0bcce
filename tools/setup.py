"""Everything a fresh clone needs before it can run: `setup.py web`, `setup.py demo` or `setup.py test`.

Needs only Python 3.11. Each step is stamped with the digest of what it was made from, so that a second run takes moments
and a stopped one goes on where it was; a lock keeps two runs in one clone apart.
"""

import fcntl
import hashlib
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
STAMPS = VENV / "stamps"
LOCK = ROOT / "build" / "setup.lock"
PYTHON = VENV / "bin" / "python"
LOCKS = {"web": ("web.txt",), "demo": ("web.txt", "worker.txt"), "test": ("web.txt", "worker.txt", "test.txt")}
PIP_LIMIT_S = 1800
APT_LIMIT_S = 900
SAY_EVERY_S = 10


class SetupFault(Exception):
    """One line that says what is wrong and what to do."""


def main(arguments: list[str]) -> int:
    """Bring this clone up to its locks. Returns the exit status."""
    if len(arguments) != 1 or arguments[0] not in LOCKS:
        print(f"usage: setup.py {'|'.join(LOCKS)}", file=sys.stderr)
        return 2
    try:
        with alone():
            make_venv()
            install(arguments[0])
            install_front_end()
            install_system_packages()
    except SetupFault as fault:
        print(f"set-up: {fault}", file=sys.stderr)
        return 1
    except OSError as error:
        print(f"set-up: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("set-up: stopped; the next run goes on from here", file=sys.stderr)
        return 130
    return 0


@contextmanager
def alone() -> Iterator[None]:
    """Hold this clone's set-up lock; the kernel lets go of it however the process ends."""
    LOCK.parent.mkdir(exist_ok=True)
    with LOCK.open("w") as handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say("another set-up runs in this clone; waiting for it")
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield


def make_venv() -> None:
    """Make .venv, again where it is half made, moved, or of another Python."""
    made_from = f"{sys.version_info[:3]} {VENV}"
    if read_stamp("venv") == made_from and PYTHON.exists():
        return
    if is_sound_venv():
        write_stamp("venv", made_from)
        return
    if importlib.util.find_spec("ensurepip") is None:
        raise SetupFault("this Python has no venv: install it (Debian: apt-get install python3.11-venv)")
    say("virtual environment: .venv")
    shutil.rmtree(VENV, ignore_errors=True)
    run([sys.executable, "-m", "venv", str(VENV)], "virtual environment", limit_s=180)
    write_stamp("venv", made_from)


def is_sound_venv() -> bool:
    """Whether .venv runs, is of this Python, was not moved, and has pip."""
    question = "import sys, pip; print(sys.version_info[:2], sys.prefix)"
    try:
        answer = subprocess.run([str(PYTHON), "-c", question], capture_output=True, text=True, check=False, timeout=60)
    except OSError:
        return False
    return answer.stdout.strip() == f"{sys.version_info[:2]} {VENV}"


def install(which: str) -> None:
    """Install the locked Python packages of one set."""
    files = [ROOT / "requirements" / name for name in LOCKS[which]]
    digests = {file.stem: hashlib.sha256(file.read_bytes()).hexdigest() for file in files}
    if all(read_stamp(name) == digest for name, digest in digests.items()):
        return
    wanted = len({line for file in files for line in file.read_text().splitlines() if line[:1].isalnum()})
    say(f"Python packages: {wanted} from {', '.join(file.name for file in files)} (the first time takes some minutes)")
    for name in digests:
        (STAMPS / name).unlink(missing_ok=True)
    # The locks are complete, so nothing is left to resolve.
    command = [str(PYTHON), "-m", "pip", "install", "--no-deps", "--disable-pip-version-check", "--no-input"]
    command += ["--progress-bar", "off", "--no-compile"] + [word for file in files for word in ("-r", str(file))]
    run(command, "Python packages", limit_s=PIP_LIMIT_S, count=("Collecting", "Requirement already"), of=wanted)
    # Byte code for what every start imports; of the largest packages only a few files are ever used.
    site = PYTHON.parent.parent / "lib" / f"python{sys.version_info.major}.{sys.version_info.minor}" / "site-packages"
    compiling = [str(PYTHON), "-m", "compileall", "-q", "-q", "-j", "2", "-x", r"/(torch|sympy|networkx|OpenGL)/", str(site)]
    subprocess.run(compiling, check=False, timeout=PIP_LIMIT_S, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    complete_torch(files)
    # A lock made by one Python may miss what another patch release needs.
    run([str(PYTHON), "-m", "pip", "check", "--disable-pip-version-check"], "Python packages: what they need", limit_s=120)
    for name, digest in digests.items():
        write_stamp(name, digest)


def complete_torch(files: list[Path]) -> None:
    """Fetch the libraries of a build of torch for GPUs, where pip found that one: no lock names them, nothing loads without."""
    checking = [str(PYTHON), "-m", "pip", "check", "--disable-pip-version-check"]
    checked = subprocess.run(checking, capture_output=True, text=True, check=False, timeout=120)
    found = re.search(r"^torch (\S+) requires \S+, which is not installed", checked.stdout, re.MULTILINE)
    if not found:
        return
    say("torch here is the build for GPUs: fetching its libraries, some gigabytes (a build for CPUs needs none)")
    command = [str(PYTHON), "-m", "pip", "install", f"torch=={found[1]}", "--disable-pip-version-check", "--no-input"]
    command += ["--progress-bar", "off", "--no-compile"] + [word for file in files for word in ("-c", str(file))]
    run(command, "libraries of torch", limit_s=2 * PIP_LIMIT_S)


def install_front_end() -> None:
    """Bring static/vendor/ up to package-lock.json, with the npm that is there or the one in a Python wheel."""
    if not has_npm() and not read_stamp("npm"):
        say("no npm here: taking the one in a Python wheel")
        command = [str(PYTHON), "-m", "pip", "install", "-q", "--no-deps", "--disable-pip-version-check", "--no-input"]
        run([*command, "-r", str(ROOT / "requirements" / "npm.txt")], "npm", limit_s=PIP_LIMIT_S)
        write_stamp("npm", "installed")
    done = subprocess.run(
        [str(PYTHON), str(ROOT / "tools" / "vendor_assets.py")], cwd=ROOT, check=False, timeout=600, stdin=subprocess.DEVNULL,
        capture_output=True, text=True,
    )  # fmt: skip
    if done.returncode:
        raise SetupFault(f"front-end packages failed: {(done.stderr or done.stdout).strip()}")
    if "up to date" not in done.stdout:
        say(done.stdout.strip().splitlines()[-1])


def has_npm() -> bool:
    """Whether the npm on the PATH reads our lock (npm 7 or later)."""
    npm = shutil.which("npm")
    if npm is None:
        return False
    try:
        found = subprocess.run([npm, "--version"], capture_output=True, text=True, check=True, timeout=30).stdout
        return int(found.partition(".")[0]) >= 7
    except (OSError, ValueError, subprocess.SubprocessError):
        return False


def install_system_packages() -> None:
    """Debian's Chromium and software OpenGL: installed as root, otherwise one line says what is lost."""
    missing = missing_system_packages()
    if not missing or read_stamp("system") == "told: " + " ".join(missing):
        return
    lost = {"chromium": "browser tests and pictures", "libosmesa6": "pictures from simulators without a screen"}
    words = " and ".join(f"{name} ({lost[name]})" for name in missing)
    if os.geteuid() == 0 and shutil.which("apt-get"):
        say(f"Debian packages: {' '.join(missing)}")
        environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
        apt = ["apt-get", "-q", "-y", "-o", "DPkg::Lock::Timeout=300"]
        try:
            run([*apt, "update"], "Debian's lists", limit_s=APT_LIMIT_S, environment=environment)
            run([*apt, "install", "--no-install-recommends", *missing], "Debian packages", APT_LIMIT_S, environment=environment)
        except SetupFault as fault:
            say(f"going on without {words}: {fault}")
        return
    say(f"going on without {words}: to have them, as root: apt-get install {' '.join(missing)}")
    write_stamp("system", "told: " + " ".join(missing))


def missing_system_packages() -> list[str]:
    """Debian names of what is not here."""
    libraries = [Path(folder) for folder in ("/usr/lib", "/usr/lib64", "/usr/local/lib")]
    has_mesa = any(next(folder.glob(pattern), None) for folder in libraries for pattern in ("libOSMesa.so*", "*/libOSMesa.so*"))
    has_chromium = any(shutil.which(name) for name in ("chromium", "chromium-browser", "google-chrome"))
    return [name for name, there in (("chromium", has_chromium), ("libosmesa6", has_mesa)) if not there]


def run(
    command: list[str],
    what: str,
    limit_s: float,
    *,
    count: tuple[str, ...] = (),
    of: int = 0,
    environment: dict[str, str] | None = None,
) -> None:
    """Run one step, say every few seconds how far it is, and raise SetupFault with its last lines if it fails."""
    started = spoken = time.monotonic()
    log = ROOT / "build" / "setup.log"
    with log.open("w") as out:
        process = subprocess.Popen(
            command, cwd=ROOT, env=environment, stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT
        )
        try:
            while process.poll() is None:
                time.sleep(0.1)
                now = time.monotonic()
                if now - started > limit_s:
                    raise SetupFault(f"{what}: not finished after {limit_s:.0f} s; see {log}")
                if now - spoken > SAY_EVERY_S:
                    spoken = now
                    say(f"{what}: {how_far(log, count, of)}{now - started:.0f} s")
        finally:
            if process.poll() is None:
                process.terminate()
                process.wait(20)
    if process.returncode:
        tail = [line for line in log.read_text(errors="replace").splitlines() if line.strip()][-6:]
        raise SetupFault(f"{what} failed (status {process.returncode}):\n  " + "\n  ".join(tail))
    if time.monotonic() - started > 1:
        say(f"{what}: done in {time.monotonic() - started:.0f} s")


def how_far(log: Path, count: tuple[str, ...], of: int) -> str:
    """In words, from pip's own output."""
    if not count:
        return ""
    lines = log.read_text(errors="replace").splitlines()
    if any(line.startswith("Installing collected") for line in lines):
        return "all fetched, being unpacked, "
    return f"{sum(line.startswith(count) for line in lines)} of {of} fetched, "


def read_stamp(name: str) -> str:
    """What a step was last made from, or nothing."""
    try:
        return (STAMPS / name).read_text()
    except OSError:
        return ""


def write_stamp(name: str, value: str) -> None:
    """Note that a step is done; written whole or not at all."""
    STAMPS.mkdir(exist_ok=True)
    partial = STAMPS / f".{name}"
    partial.write_text(value)
    partial.replace(STAMPS / name)


def say(line: str) -> None:
    """One line of progress."""
    print(f"set-up: {line}", flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
