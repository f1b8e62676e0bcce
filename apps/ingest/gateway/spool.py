"""Stops that were sent and are not in the journal yet, on disk: they outlive this process and a database that is away."""

import logging
import os
from errno import ENOSPC
from pathlib import Path
from uuid import UUID

import msgspec

LARGEST_BYTES = 256 * 1024  # beyond it, the file is written anew with what is still pending
_log = logging.getLogger(__name__)


class Pressed(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One Stop as it was pressed: by whom, with which roles, for whom. `subjects` None is the whole site.

    `pressed_at_ms` is the page's clock, `received_ms` ours. `sent_to` are the subjects it was sent to, as `kind:id`.
    """

    stop: UUID
    site: UUID
    subjects: list[UUID] | None
    pressed_at_ms: int
    received_ms: int
    person: UUID
    name: str
    roles: list[str]
    sent_to: list[str] = []


class _Done(msgspec.Struct, frozen=True, kw_only=True):
    done: UUID


_LINE = msgspec.json.Decoder(Pressed)
_DONE = msgspec.json.Decoder(_Done)


class Spool:
    """One file of lines, each written and synced before anybody counts on it. Used by one thread at a time."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / "stops.jsonl"
        self.pending: dict[UUID, Pressed] = {}
        self._file: int | None = None
        self._size = 0

    def load(self) -> None:
        """Read what an earlier process left. A torn last line was never counted on."""
        try:
            lines = self._path.read_bytes().splitlines()
        except FileNotFoundError:
            return
        except OSError as error:
            _log.error("the spool of stops cannot be read: %s", error.strerror)
            return
        for line in lines:
            try:
                self.pending.pop(_DONE.decode(line).done, None)
            except msgspec.MsgspecError:
                try:
                    pressed = _LINE.decode(line)
                except msgspec.MsgspecError:
                    continue
                self.pending[pressed.stop] = pressed

    def keep(self, pressed: Pressed) -> None:
        """Keep one Stop until it is recorded. Raises OSError where the disk takes nothing."""
        self.pending[pressed.stop] = pressed
        self._write(msgspec.json.encode(pressed), sync=True)

    def done(self, stop: UUID) -> None:
        """It is recorded: forget it. Losing this line only means that it is recorded again, as nothing."""
        self.pending.pop(stop, None)
        self._write(msgspec.json.encode(_Done(done=stop)), sync=False)
        if self._size > LARGEST_BYTES:
            self._rewrite()

    def _write(self, line: bytes, *, sync: bool) -> None:
        if self._file is None:
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._file = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
            self._size = os.fstat(self._file).st_size
            # A torn line of before must not swallow this one.
            line = b"\n" + line if self._size else line
        try:
            written = os.write(self._file, line + b"\n")
            if written <= len(line):  # a disk that is nearly full takes what it can, and says no error
                raise OSError(ENOSPC, os.strerror(ENOSPC))
            self._size += written
            if sync:
                os.fsync(self._file)
        except OSError:
            os.close(self._file)
            self._file = None  # opened anew, the next line stands apart from what may be torn
            raise

    def _rewrite(self) -> None:
        if self._file is not None:
            os.close(self._file)
            self._file = None
        partial = self._path.with_suffix(".partial")
        with os.fdopen(os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
            for pressed in self.pending.values():
                file.write(msgspec.json.encode(pressed) + b"\n")
            file.flush()
            os.fsync(file.fileno())
        partial.rename(self._path)
