"""The kernel: what every app stands on."""

from django.apps import AppConfig


class KernelConfig(AppConfig):
    """Names the app."""

    name = "apps.kernel"
