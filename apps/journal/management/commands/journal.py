"""`manage.py journal verify`."""

import json
import sys
from dataclasses import asdict
from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from apps.journal import selectors


class Command(BaseCommand):
    """Checks the journal against itself."""

    help = "Check that no recorded fact was changed, removed or moved: exit code 0 when it holds, 1 when it does not."
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        """One word says what to do."""
        words = parser.add_subparsers(dest="what", required=True)
        verify = words.add_parser("verify", help="walk every stream and name the first fault of each")
        for one in (parser, verify):
            one.add_argument("--data", help="data folder of the deployment to speak to")
        verify.add_argument("--json", action="store_true", help="for programs")

    def handle(self, *args: Any, **options: Any) -> None:
        """Verify."""
        found = list(selectors.chain_faults())
        streams, events = selectors.size()
        if options["json"]:
            self.stdout.write(
                json.dumps({"streams": streams, "events": events, "faults": [asdict(one) for one in found]}, indent=1)
            )
        else:
            for one in found:
                self.stdout.write(f"{one.stream} {one.sequence}: {one.reason}")
            verdict = f"{len(found)} of {streams} streams do not hold" if found else "every stream holds"
            self.stdout.write(f"{events} events in {streams} streams: {verdict}.")
        if found:
            sys.exit(1)
