"""The only reader of the environment.

Each setting is declared once, with its kind, default and meaning; `docs/operations.md` is generated from this table.
Where a variable is absent, the value comes from `<data>/run/environment.json`, which `manage.py up` writes with mode 0600,
so that any command given `--data` speaks to that running deployment.
"""

import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

PREFIX = "PILOTHOUSE_"
ROOT = Path(__file__).resolve().parent.parent


class BadSetting(ValueError):
    """A variable holds a value of the wrong kind. The message names the variable and the reason."""


def _words(text: str) -> list[str]:
    return [word.strip() for word in text.split(",") if word.strip()]


def _natural(text: str) -> int:
    number = int(text)
    if number < 0:
        raise ValueError("give a whole number of 0 or more")
    return number


@dataclass(frozen=True)
class Variable:
    """One environment variable: name without prefix, how to read it, default as text, meaning."""

    name: str
    parse: Callable[[str], Any]
    default: str
    meaning: str
    secret: bool = False


VARIABLES: tuple[Variable, ...] = (
    Variable("DATA", str, str(ROOT / "var"), "Folder of the embedded deployment: databases, secrets, logs."),
    Variable("DATABASE_URL", str, "", "PostgreSQL, as the runtime role: postgresql://user:password@host:port/name.", True),
    Variable("MIGRATION_DATABASE_URL", str, "", "PostgreSQL as the owner role, for migrations; DATABASE_URL if empty.", True),
    Variable("VALKEY_URL", str, "", "Valkey: redis://:password@host:port.", True),
    Variable("SECRET_KEY", str, "", "Signs cookies and links. At least 50 characters in production.", True),
    Variable("HOSTS", _words, "", "Host names this console answers to, comma separated."),
    Variable("PUBLIC_URL", str, "http://localhost:8000", "The one address people use; links in mail are built from it."),
    Variable("GATEWAY_URL", str, "ws://localhost:8001", "Address of the gateway, for sockets of operators and machines."),
    Variable("GATEWAY_NAME", str, "gateway", "What this gateway is called in records; each one has its own name."),
    Variable("GATEWAY_LINKS", _words, "", "Addresses of the other gateways, as ws://host:port, comma separated."),
    Variable("LINK_SECRET", str, "", "What gateways prove to each other; at least 32 characters, the same at all.", True),
    Variable("ADMIN_NETWORKS", _words, "127.0.0.0/8,::1/128", "Networks from which /admin/ may be reached, comma separated."),
    Variable("TRUSTED_PROXIES", _natural, "0", "Number of our own reverse proxies in front; 0 ignores X-Forwarded-*."),
    Variable("SEAL", str, "", "Folder of the journal's signing key and checkpoints. If empty, seal/ in PILOTHOUSE_DATA."),
    Variable("LOG_LEVEL", str, "INFO", "Lowest level that is logged."),
    Variable("POOL_SIZE", _natural, "6", "Most PostgreSQL connections one process may hold."),
    Variable("TELEMETRY_DAYS", _natural, "7", "Days for which stored samples of subjects are kept."),
    Variable(
        "EMAIL_URL",
        str,
        "",
        "Mail server: smtp://user:password@host:port. If empty, mail goes to mail/ in PILOTHOUSE_DATA.",
        True,
    ),
    Variable("EMAIL_FROM", str, "pilothouse@localhost", "Sender of mail."),
)
# The Prometheus library looks for this name itself, before any setting of ours is read.
METRICS_FOLDER = os.environ.get("PROMETHEUS_MULTIPROC_DIR", "")
_BY_NAME = {variable.name: variable for variable in VARIABLES}


@cache
def _written(data: str) -> dict[str, str]:
    """What the supervisor of this data folder wrote, or nothing."""
    try:
        found = json.loads((Path(data) / "run" / "environment.json").read_text())
    except (FileNotFoundError, NotADirectoryError, PermissionError):
        return {}
    return {str(name): str(value) for name, value in found.items()}


def read(name: str) -> Any:
    """The value of one declared variable. Raises BadSetting naming the variable and the reason."""
    variable = _BY_NAME[name]
    text = os.environ.get(PREFIX + name)
    if text is None and name != "DATA":
        text = _written(read("DATA")).get(PREFIX + name)
    try:
        return variable.parse(variable.default if text is None else text)
    except ValueError as error:
        raise BadSetting(f"{PREFIX}{name}: {error} (got {'a secret' if variable.secret else repr(text)})") from error


def data_folder() -> Path:
    """The data folder, absolute."""
    return Path(read("DATA")).expanduser().resolve()
