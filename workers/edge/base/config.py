"""What a bridge is told in its config file."""

import stat
from pathlib import Path

import msgspec

from workers.client import Identity


class Bad(ValueError):
    """The config file cannot be used; the message says why and quotes no credential."""


class Subject(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One subject: its full name (`robot:<uuid>`), and what people call it."""

    subject: str
    name: str = ""


class Config(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The gateway's address, the credential and the bridge it is bound to, the subjects to speak for.

    `state` is a folder for what must survive a restart: facts not taken yet, Stops in effect, orders carried out.
    """

    url: str
    credential: str
    bridge: str
    subjects: list[Subject]
    state: str = ""

    def identity(self, software: str) -> Identity:
        """Who this bridge is to the gateway."""
        return Identity(url=self.url, bridge=self.bridge, credential=self.credential, software=software)

    def state_folder(self, beside: Path) -> Path:
        """Where state lies: as said, relative to the config file, else a folder named after the bridge beside it."""
        return beside.parent / (self.state or f"{beside.stem}-state")


def read(path: Path, *, most: int | None = None, url: str | None = None) -> Config:
    """The config in a file, cut to the first `most` subjects, with another `url` where one is given. Raises Bad."""
    try:
        text = path.read_bytes()
        mode = path.stat().st_mode
    except OSError as error:
        raise Bad(f"{path}: {error.strerror}") from None
    if mode & (stat.S_IRWXG | stat.S_IRWXO):
        raise Bad(f"{path} holds a credential, and others can read it: chmod 600 {path}")
    try:
        config = msgspec.json.decode(text, type=Config)
    except msgspec.DecodeError as error:
        raise Bad(f"{path}: {error}") from None
    names = [one.subject for one in config.subjects]
    if not names or len(set(names)) != len(names):
        raise Bad(f"{path}: name at least one subject, and none twice")
    return msgspec.structs.replace(config, subjects=config.subjects[:most], url=url or config.url)
