"""The journal: every fact that changes authority or truth."""

from django.apps import AppConfig


class JournalConfig(AppConfig):
    """Names the app."""

    name = "apps.journal"
    label = "journal"
