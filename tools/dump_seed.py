"""Dump a seeded database of this version to tests/upgrade/<version>.sql.gz, from which the next version's tests migrate.

Run by `make dump` when a version ends. Engines, database and seed are made for this and thrown away.
"""

import gzip
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from console.embedded import postgres  # noqa: E402
from console.supervisor.backup import client_environment  # noqa: E402
from tests.engines import OWNER, Engines  # noqa: E402

LIMIT = 400_000
LIMIT_S = 120


def version() -> str:
    """The version in pyproject.toml."""
    found = re.search(r'^version = "([0-9.]+)"', (ROOT / "pyproject.toml").read_text(), re.MULTILINE)
    if found is None:
        raise SystemExit("dump: pyproject.toml has no version")
    return found[1]


def main() -> int:
    """Seed, dump, pack. Returns the exit status."""
    target = ROOT / "tests" / "upgrade" / f"{version()}.sql.gz"
    engines = Engines()
    try:
        addresses = engines.start()
        environment = {**os.environ, **addresses, "PILOTHOUSE_DATABASE_URL": addresses[OWNER]}
        environment["DJANGO_SETTINGS_MODULE"] = "console.settings.embedded"
        _manage(environment, "migrate", "--noinput", "--verbosity", "0")
        with tempfile.TemporaryDirectory() as data:  # secrets that the seed makes go with it
            environment["PILOTHOUSE_DATA"] = data
            for words in (("seed", "--demo"), ("seed_fleet",), ("journal", "seal")):
                _manage(environment, *words)
        packed = gzip.compress(_dump(addresses[OWNER]), 9, mtime=0)
    finally:
        engines.stop()
    if len(packed) > LIMIT:
        print(f"dump: {len(packed)} bytes, {LIMIT} are the limit", file=sys.stderr)
        return 1
    target.write_bytes(packed)
    print(f"dump: {target.relative_to(ROOT)}, {len(packed)} bytes")
    return 0


def _manage(environment: dict[str, str], *words: str) -> None:
    command = [sys.executable, "manage.py", *words]
    subprocess.run(command, cwd=ROOT, env=environment, check=True, timeout=LIMIT_S, stdout=subprocess.DEVNULL)


def _dump(url: str) -> bytes:
    """Plain SQL with rights and without owners, which psql replays as the owner; the same bytes for the same rows."""
    command = [str(postgres.binaries() / "pg_dump"), "--no-owner", "--no-password", "--restrict-key=pilothouse"]
    return subprocess.run(command, env=client_environment(url), check=True, timeout=LIMIT_S, capture_output=True).stdout


if __name__ == "__main__":
    sys.exit(main())
