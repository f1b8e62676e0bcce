"""The gateway process: sockets of machines, operators and other gateways, as raw ASGI."""

import gc
import os
import sys

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "console.settings.embedded")

import django

django.setup()

from apps.ingest.gateway import application  # noqa: E402 - Django comes first

__all__ = ["application"]

# What is loaded now stays for good: the collector need not walk it again, nor start for every few hundred samples.
gc.collect()
gc.freeze()
gc.set_threshold(20_000, 20, 20)
# Threads that wait for the database work in Python between: the loop, which carries Stop, gets its turn back sooner.
sys.setswitchinterval(0.001)
