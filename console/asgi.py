"""The web process: pages, API and browser sockets."""

import os

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "console.settings.embedded")

from django.core.asgi import get_asgi_application

_pages = get_asgi_application()

from channels.routing import ProtocolTypeRouter

application = ProtocolTypeRouter({"http": _pages})
