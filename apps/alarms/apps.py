"""Alarms: what needs a person, by definition and state."""

from django.apps import AppConfig


class AlarmsConfig(AppConfig):
    """Names the app."""

    name = "apps.alarms"
    label = "alarms"
