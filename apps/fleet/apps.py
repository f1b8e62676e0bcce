"""Robots, the bridges that speak for them, and their episodes."""

from django.apps import AppConfig


class FleetConfig(AppConfig):
    """Registers verbs and events, and says how its tables follow from facts."""

    name = "apps.fleet"
    label = "fleet"

    def ready(self) -> None:
        """Load what registers itself."""
        from apps.alarms.services import watch_by
        from apps.fleet import events, permissions, projections, reactions  # noqa: F401
        from apps.fleet.selectors import words
        from apps.fleet.services.watching import watch_fleet
        from apps.journal.services import projection
        from apps.kernel.selectors import register_subjects

        register_subjects("robot", words.robot_words)
        register_subjects("bridge", words.bridge_words)
        register_subjects("gateway", words.gateway_words)
        watch_by("fleet", watch_fleet)
        projection("fleet", projections.TABLES, projections.apply_recorded)
