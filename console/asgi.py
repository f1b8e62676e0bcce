"""The web process: pages, API and browser sockets."""

import os

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "console.settings.embedded")

import django

django.setup(set_prefix=False)

from channels.routing import ProtocolTypeRouter  # noqa: E402 - Django comes first

from apps.realtime.consumers import PageSocket  # noqa: E402
from apps.realtime.middleware import BrowsersOnly  # noqa: E402
from console.pages import Pages  # noqa: E402

application = ProtocolTypeRouter({"http": Pages(), "websocket": BrowsersOnly(PageSocket.as_asgi())})
