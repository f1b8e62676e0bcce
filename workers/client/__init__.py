"""One outbound connection of a bridge to the console: kept up, resumed, with facts on disk until they are taken."""

from workers.client.client import Client, Identity
from workers.client.clock import ConsoleClock, DeviceClock
from workers.client.link import Link, Listener
from workers.client.spool import Spool, SpoolFull

__all__ = ["Client", "ConsoleClock", "DeviceClock", "Identity", "Link", "Listener", "Spool", "SpoolFull"]
