"""Browser sockets."""

from django.apps import AppConfig


class RealtimeConfig(AppConfig):
    """Listens to the journal."""

    name = "apps.realtime"
    label = "realtime"

    def ready(self) -> None:
        """Be told of every commit that appended."""
        from apps.journal.services import on_appended
        from apps.realtime import reactions

        on_appended(reactions.stream_grown)
