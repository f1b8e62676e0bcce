"""Robots, the bridges that speak for them, and their episodes."""

from django.apps import AppConfig


class FleetConfig(AppConfig):
    """Registers verbs and events, and says how its tables follow from facts."""

    name = "apps.fleet"
    label = "fleet"

    def ready(self) -> None:
        """Load what registers itself."""
        from apps.fleet import events, permissions, projections  # noqa: F401
        from apps.journal.services import projection

        projection("fleet", projections.TABLES, projections.apply_recorded)
