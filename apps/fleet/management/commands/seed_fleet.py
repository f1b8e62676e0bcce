"""`manage.py seed_fleet`: the demo's simulated arms and what their bridge signs in with."""

from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandParser

from apps.fleet import services


class Command(BaseCommand):
    """May be run again at any time: what exists stays as it is."""

    help = "Make the demo's simulated arms, and the file that their bridge signs in with, where they are missing."

    def add_arguments(self, parser: CommandParser) -> None:
        """How many."""
        parser.add_argument("--robots", type=int, default=12, help="how many arms there shall be (12)")
        parser.add_argument("--data", help="data folder of the deployment")

    def handle(self, *args: Any, **options: Any) -> None:
        """The secret goes to a file that only its owner may read, never to the output, which may be a log."""
        path = settings.DATA / "secrets" / "arms.json"
        made = services.seed_fleet(path, url=f"{settings.GATEWAY_URL}/machine", count=options["robots"])
        self.stdout.write(f"{len(made.robots)} simulated arms, {made.made} made now; their bridge reads {path}")
