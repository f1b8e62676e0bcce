"""Browser sockets."""

from django.apps import AppConfig


class RealtimeConfig(AppConfig):
    """Names the app."""

    name = "apps.realtime"
    label = "realtime"
