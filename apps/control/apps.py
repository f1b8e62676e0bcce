"""Who may move a subject: Stop now, leases later."""

from django.apps import AppConfig


class ControlConfig(AppConfig):
    """Registers verbs and events."""

    name = "apps.control"
    label = "control"

    def ready(self) -> None:
        """Load what registers itself."""
        from apps.control import events, permissions, projections  # noqa: F401
        from apps.journal.services import projection

        projection("control", projections.TABLES, projections.apply_recorded)
