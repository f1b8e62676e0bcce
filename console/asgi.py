"""The web process: pages, API and browser sockets."""

import os

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "console.settings.embedded")

from django.core.asgi import get_asgi_application

_pages = get_asgi_application()

from channels.routing import ProtocolTypeRouter  # noqa: E402 - Django comes first

from apps.realtime.consumers import PageSocket  # noqa: E402
from apps.realtime.middleware import BrowsersOnly  # noqa: E402

application = ProtocolTypeRouter({"http": _pages, "websocket": BrowsersOnly(PageSocket.as_asgi())})
