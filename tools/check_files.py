"""Refuse what never belongs into a commit: conflict markers, private keys and tokens, files over 500 kB."""

import re
import sys
from pathlib import Path

LIMIT = 500_000
REFUSED = {
    rb"(?m)^(<{7} |={7}$|>{7} )": "a conflict marker",
    rb"-----BEGIN (?:[A-Z]+ )?PRIVATE KEY-----": "a private key",
    rb"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b": "a cloud key",
    rb"\bgh[pousr]_[A-Za-z0-9]{36,}\b": "a hosting token",
    rb"\b(?:pht|phm)_[A-Za-z0-9]{8,}_[A-Za-z0-9_-]{30,}\b": "a Pilothouse token",
}


def faults(path: Path) -> list[str]:
    """What is wrong with one file."""
    content = path.read_bytes()
    found = [f"{path}: {len(content) // 1000} kB, {LIMIT // 1000} kB are the limit"] if len(content) > LIMIT else []
    return found + [f"{path}: {why}" for pattern, why in REFUSED.items() if re.search(pattern, content)]


def main(names: list[str]) -> int:
    """Check each named file. Returns the exit status."""
    found = [fault for name in names if Path(name).is_file() for fault in faults(Path(name))]
    print("\n".join(found), end="\n" if found else "")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
