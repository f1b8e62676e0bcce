"""One machine, one folder: the engines run beside the console and listen on loopback only."""

from console.settings.base import *  # noqa: F403

DEPLOYMENT = "embedded"
