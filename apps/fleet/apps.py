"""Robots, the bridges that speak for them, and their episodes."""

from django.apps import AppConfig


class FleetConfig(AppConfig):
    """Names the app."""

    name = "apps.fleet"
    label = "fleet"
