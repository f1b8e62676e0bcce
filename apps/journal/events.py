"""Registry of event payloads by (type, version)."""

from typing import Any, TypeVar

import msgspec

from apps.journal.types import Payload

Kind = TypeVar("Kind", bound=type[Payload])
_KINDS: dict[tuple[str, int], type[Payload]] = {}


def event(name: str, *, version: int = 1) -> Any:
    """Register a payload class under `<app>.<past tense>`."""

    def register(kind: Kind) -> Kind:
        kind.event_type = name
        kind.event_version = version
        if _KINDS.setdefault((name, version), kind) is not kind:
            raise ValueError(f"event {name} version {version} is registered twice")
        return kind

    return register


def registered() -> dict[tuple[str, int], type[Payload]]:
    """Every payload class."""
    return dict(_KINDS)


def decode(name: str, version: int, payload: dict[str, Any]) -> Payload:
    """The typed payload of a stored event. Raises LookupError or msgspec.ValidationError."""
    return msgspec.convert(payload, _KINDS[name, version], strict=False)
