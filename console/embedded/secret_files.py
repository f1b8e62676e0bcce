"""Secrets of one data folder: one file each, mode 0600, made at first use."""

import os
import secrets
from pathlib import Path

from console.embedded.faults import Fault

NAMES = ("secret_key", "postgres_superuser", "postgres_owner", "postgres_app", "valkey")


class SecretFolder:
    """Reads secrets from a folder that only its owner may enter, and makes those that are missing."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def path(self, name: str) -> Path:
        """Where one secret lies."""
        return self.folder / name

    def read(self, name: str) -> str:
        """One secret, made now if it is missing. URL-safe, so that it can stand in an address unquoted."""
        path = self.path(name)
        try:
            found = path.read_text().strip()
        except FileNotFoundError:
            return self._make(name)
        if not found:
            raise Fault(f"{path} is empty. Put the secret back from a backup, or start with a new --data folder.")
        return found

    def _make(self, name: str) -> str:
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        value = secrets.token_urlsafe(48)
        partial = self.folder / f".{name}.{os.getpid()}"
        # Written aside and renamed: a crash in between must not leave an empty secret behind.
        with os.fdopen(os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
            file.write(value)
            file.flush()
            os.fsync(file.fileno())
        partial.rename(self.path(name))
        return value
