"""Real serving processes."""

from tests.served import gateway, migrated, web, world

__all__ = ["gateway", "migrated", "web", "world"]
