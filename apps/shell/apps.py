"""The shell of the interface."""

from django.apps import AppConfig


class ShellConfig(AppConfig):
    """Names the app and loads its checks."""

    name = "apps.shell"
    label = "shell"

    def ready(self) -> None:
        """Register the start-up checks."""
        from apps.shell import checks  # noqa: F401
