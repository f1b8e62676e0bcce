"""Machine-facing edges."""

from django.apps import AppConfig


class IngestConfig(AppConfig):
    """Names the app."""

    name = "apps.ingest"
    label = "ingest"
