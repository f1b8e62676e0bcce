"""`manage.py prepare`: bring the database and the static files to what the code needs. Runs as the owner role."""

from typing import Any

from django.core.management import call_command, get_commands
from django.core.management.base import BaseCommand, CommandParser


class Command(BaseCommand):
    """Migrations, and on request static files and seed data, in one process: loading Django takes longer than either."""

    help = "Bring the database, and on request static files and seed data, up to date."
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        """What to do beside migrations."""
        parser.add_argument("--static", action="store_true", help="also collect static files")
        parser.add_argument("--seed", action="store_true", help="also make what an empty console needs")
        parser.add_argument("--demo", action="store_true", help="also make the demo site, its accounts and its robots")

    def handle(self, *args: Any, **options: Any) -> None:
        """Each step says what it did, into the log."""
        call_command("migrate", interactive=False, verbosity=1)
        if options["static"]:
            call_command("collectstatic", interactive=False, verbosity=0)
        if (options["seed"] or options["demo"]) and "seed" in get_commands():
            call_command("seed", demo=options["demo"])
        if options["demo"]:
            call_command("seed_fleet")
