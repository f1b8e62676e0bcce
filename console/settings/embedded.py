"""One machine, one folder: the engines run beside the console and listen on loopback only."""

from console.settings.base import *  # noqa: F403
from console.settings.base import STORAGES

DEPLOYMENT = "embedded"
# Loopback gains nothing from compressed copies, and making them takes 25 s of the first start.
STORAGES = {
    **STORAGES,
    "staticfiles": {"BACKEND": "console.static_files.Files"},
}
