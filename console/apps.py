"""The project as an app, for its management commands."""

from django.apps import AppConfig


class ConsoleConfig(AppConfig):
    """Declares what views of libraries need, once every app is loaded."""

    name = "console"
    label = "console"

    def ready(self) -> None:
        """Load the wiring between apps."""
        from console import wiring  # noqa: F401
