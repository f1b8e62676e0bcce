"""Alarms: what needs a person, by definition and state."""

from django.apps import AppConfig


class AlarmsConfig(AppConfig):
    """Registers verbs and events."""

    name = "apps.alarms"
    label = "alarms"

    def ready(self) -> None:
        """Load what registers itself."""
        from apps.alarms import events, permissions, projections  # noqa: F401
        from apps.journal.services import projection

        projection("alarms", projections.TABLES, projections.apply_recorded)
