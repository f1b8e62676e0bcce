"""`manage.py seed`: make what an empty console needs, once."""

import json
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandParser

from apps.accounts import services


class Command(BaseCommand):
    """May be run again at any time: what exists stays as it is."""

    help = "Make the first site and its accounts, where they are missing."

    def add_arguments(self, parser: CommandParser) -> None:
        """What to make, and how to say it."""
        parser.add_argument("--demo", action="store_true", help="a simulated site with one person for each role")
        parser.add_argument("--json", action="store_true", help="say what was made as JSON, without passwords")
        parser.add_argument("--data", help="data folder of the deployment")

    def handle(self, *args: Any, **options: Any) -> None:
        """Passwords go to a file that only its owner may read, never to the output, which may be a log."""
        path = settings.DATA / "run" / "demo-accounts.json"
        made = services.seed_deployment(path, demo=options["demo"])
        if options["json"]:
            lines = [{"email": account.email, "role": account.role, "site": account.site} for account in made]
            self.stdout.write(json.dumps({"accounts_made": lines, "accounts_file": str(path)}))
            return
        for account in made:
            self.stdout.write(f"made {account.email} ({account.role} at {account.site})")
        self.stdout.write(f"passwords are in {path}" if made else "nothing to make")
