"""Robots, the bridges that speak for them, and their episodes."""

from django.apps import AppConfig


class FleetConfig(AppConfig):
    """Registers verbs and events."""

    name = "apps.fleet"
    label = "fleet"

    def ready(self) -> None:
        """Load what registers itself."""
        from apps.fleet import events, permissions  # noqa: F401
