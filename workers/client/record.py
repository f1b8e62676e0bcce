"""A bridge's own log of what it said, heard and kept: one JSON object a line, for whoever checks the console against it."""

import hashlib
import os
import threading
import time
from pathlib import Path
from typing import Any

import msgspec

from workers.protocol import Message, Picture

_JSON = msgspec.json.Encoder()


class Record:
    """Appends lines to a file; each is in the system's hands when `write` returns, so that a killed bridge loses none.

    `what` is `said` or `heard` with a `message` of the protocol, or something that happened here: `kept` (a fact went to
    disk), `connected`, `closed`. Pictures are given by length and SHA-256. Without a path nothing is written.
    """

    def __init__(self, path: Path | None) -> None:
        self._lock = threading.Lock()
        self._handle: int | None = None
        if path is not None:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._handle = os.open(path, os.O_CREAT | os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC, 0o600)

    def write(self, what: str, message: Message | None = None, **more: Any) -> None:
        """One line. A disk that refuses costs the line, never the bridge."""
        if self._handle is None:
            return
        line: dict[str, Any] = {"what": what, "wall_ms": int(time.time() * 1000), **more}
        if message is not None:
            line["message"] = _shown(message)
        text = _JSON.encode(line) + b"\n"
        with self._lock:
            try:
                os.write(self._handle, text)
            except OSError:
                return

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            if self._handle is not None:
                os.close(self._handle)
                self._handle = None


def _shown(message: Message) -> Any:
    if not isinstance(message, Picture):
        return message
    shown = msgspec.to_builtins(msgspec.structs.replace(message, jpeg=b"0000"))
    return {**shown, "jpeg": {"bytes": len(message.jpeg), "sha256": hashlib.sha256(message.jpeg).hexdigest()}}
