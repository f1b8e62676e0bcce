"""The web process: pages, API and browser sockets."""

import gc
import os

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "console.settings.embedded")

import django

django.setup(set_prefix=False)

from channels.routing import ProtocolTypeRouter  # noqa: E402 - Django comes first

from apps.realtime.consumers import PageSocket  # noqa: E402
from apps.realtime.middleware import BrowsersOnly  # noqa: E402
from console.pages import Pages  # noqa: E402

application = ProtocolTypeRouter({"http": Pages(), "websocket": BrowsersOnly(PageSocket.as_asgi())})

# What is loaded now stays for good: the collector need not walk it again, nor start for every few hundred objects of a page.
gc.collect()
gc.freeze()
gc.set_threshold(20_000, 20, 20)
