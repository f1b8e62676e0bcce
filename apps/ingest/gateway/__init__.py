"""What machines speak to: a raw ASGI application, ten times as quick with small messages as a framework's consumer.

`application` sorts what comes in; `running` is one gateway with all that it holds. The README of the app says what each
module is for.
"""

from apps.ingest.gateway.application import application

__all__ = ["application"]
