"""Identifiers: UUID version 7, so that keys sort by creation and never reveal a count."""

from uuid import UUID

import uuid_utils.compat


def new_id() -> UUID:
    """A new UUIDv7."""
    return uuid_utils.compat.uuid7()


def parse_id(text: str) -> UUID | None:
    """The identifier in `text` in its one canonical spelling, or None."""
    try:
        found = UUID(text)
    except (ValueError, AttributeError, TypeError):
        return None
    return found if str(found) == text else None
