"""Structured logs: one JSON object a line, with the correlation id of the act that caused it, secrets masked."""

import logging
import re
from contextvars import ContextVar
from typing import Any

import structlog

correlation_id: ContextVar[str] = ContextVar("correlation_id", default="")
# What opens something by itself and stands in addresses, which other libraries log when a request fails.
_SECRET_TEXT = re.compile(r"\b(ph[a-z]_[0-9a-f]{12}_)[0-9a-f]{48}|(/password/reset/key/|/confirm-email/)[^/\s\"\\]+")
_SECRET_WORDS = ("password", "secret", "token", "authorization", "cookie", "credential")


def _add_correlation(_logger: Any, _name: str, event: dict[str, Any]) -> dict[str, Any]:
    if current := correlation_id.get():
        event["correlation_id"] = current
    return event


def _mask(_logger: Any, _name: str, event: dict[str, Any]) -> dict[str, Any]:
    for key in event:
        if any(word in key.lower() for word in _SECRET_WORDS):
            event[key] = "(masked)"
    return event


def _mask_text(_logger: Any, _name: str, line: Any) -> str:
    return _SECRET_TEXT.sub(r"\1\2(masked)", line)


_SHARED: list[Any] = [
    structlog.stdlib.add_log_level,
    structlog.stdlib.add_logger_name,
    structlog.processors.TimeStamper(fmt="iso", utc=True),
    _add_correlation,
    _mask,
]


def json_formatter() -> logging.Formatter:
    """The formatter of every handler."""
    structlog.configure(
        processors=[*_SHARED, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=True,
    )
    return structlog.stdlib.ProcessorFormatter(
        foreign_pre_chain=_SHARED,
        processors=[
            structlog.stdlib.ProcessorFormatter.remove_processors_meta,
            structlog.processors.format_exc_info,
            structlog.processors.JSONRenderer(),
            _mask_text,
        ],
    )
