"""The gateway process: machine sockets, as raw ASGI."""

import os

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "console.settings.embedded")

import django

django.setup()

from apps.ingest.gateway import application  # noqa: E402 - Django comes first

__all__ = ["application"]
