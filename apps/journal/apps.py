"""The journal: every fact that changes authority or truth."""

from django.apps import AppConfig


class JournalConfig(AppConfig):
    """Names the app."""

    name = "apps.journal"
    label = "journal"

    def ready(self) -> None:
        """Register verbs."""
        from apps.journal import permissions  # noqa: F401
