"""I3 and I4: by the programs that anybody would use."""

import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from tests.faults.checker.findings import Finding

ROOT = Path(__file__).resolve().parents[3]
WITHIN_S = 300


def replay(environment: Mapping[str, str] | None = None, *, data: Path | None = None) -> list[Finding]:
    """I3: every table made again from the facts, compared with the live one. Speaks to the deployment in `data`."""
    words = ["manage.py", "journal", "replay", "--check", *(["--data", str(data)] if data else [])]
    return _run("I3", words, environment)


def proofs(export: Path, *, earlier: Sequence[Path] = (), keys: Sequence[str] = ()) -> list[Finding]:
    """I4: digests, links, tree, signatures; the checkpoints in `earlier` were kept from before."""
    given = [word for path in earlier for word in ("--checkpoint", str(path))]
    given += [word for key in keys for word in ("--key", key)]
    return _run("I4", ["tools/check_proofs.py", str(export), *given], None)


def _run(invariant: str, words: Sequence[str], environment: Mapping[str, str] | None) -> list[Finding]:
    done = subprocess.run(
        [sys.executable, *words], cwd=ROOT, env=environment, capture_output=True, text=True, timeout=WITHIN_S, check=False
    )
    if done.returncode == 0:
        return []
    said = [line for line in done.stdout.splitlines() if "holds" not in line.split("  ")[0]] or done.stderr.splitlines()[-3:]
    return [Finding(invariant, line) for line in said or [f"exit code {done.returncode}"]]
