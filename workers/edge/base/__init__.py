"""What every bridge is made from: see `Bridge`, and the recipe in CONTRIBUTING."""

from workers.edge.base.bridge import AlreadyRuns, Bridge
from workers.edge.base.command import main, parser_of
from workers.edge.base.config import Config, Subject, read
from workers.edge.base.orders import OrderRefused
from workers.edge.base.types import Doing, Shot

__all__ = ["AlreadyRuns", "Bridge", "Config", "Doing", "OrderRefused", "Shot", "Subject", "main", "parser_of", "read"]
