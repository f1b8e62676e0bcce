"""Who may move a subject: Stop now, leases later."""

from django.apps import AppConfig


class ControlConfig(AppConfig):
    """Names the app."""

    name = "apps.control"
    label = "control"
