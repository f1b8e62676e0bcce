"""High-rate samples: latest, ring, blocks."""

from django.apps import AppConfig


class TelemetryConfig(AppConfig):
    """Names the app."""

    name = "apps.telemetry"
    label = "telemetry"
