"""High-rate samples: latest, ring, blocks."""

from django.apps import AppConfig


class TelemetryConfig(AppConfig):
    """Registers verbs."""

    name = "apps.telemetry"
    label = "telemetry"

    def ready(self) -> None:
        """Load what registers itself."""
        from apps.telemetry import permissions  # noqa: F401
