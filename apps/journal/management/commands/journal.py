"""`manage.py journal tail|verify`."""

import json
import signal
import sys
import threading
from dataclasses import asdict
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandParser

from apps.journal import selectors, services


class Command(BaseCommand):
    """Runs the tail of the journal, and checks the journal against itself."""

    help = "Number facts and hand them on (tail); check that none was changed, removed or moved (verify)."
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        """One word says what to do."""
        words = parser.add_subparsers(dest="what", required=True)
        verify = words.add_parser("verify", help="walk every stream and name the first fault of each")
        tail = words.add_parser("tail", help="number facts and run reactions until stopped")
        tail.add_argument("--once", action="store_true", help="only what there is now")
        for one in (parser, verify, tail):
            one.add_argument("--data", help="data folder of the deployment to speak to")
        verify.add_argument("--json", action="store_true", help="for programs")

    def handle(self, *args: Any, **options: Any) -> None:
        """Do it."""
        getattr(self, f"_{options['what']}")(options)

    def _tail(self, options: dict[str, Any]) -> None:
        if options["once"]:
            self.stdout.write(f"{services.catch_up()} new events.")
            return
        stop = threading.Event()
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: stop.set())
        services.Tail(services.SealFolder(settings.SEAL_FOLDER), stop).run()

    def _verify(self, options: dict[str, Any]) -> None:
        """Exit code 0 when it holds, 1 when it does not."""
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
