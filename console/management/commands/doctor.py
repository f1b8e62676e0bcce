"""`manage.py doctor`: what is well, what is not, and what to do next. Works with everything down."""

import json
import logging
import sys
from itertools import groupby
from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from console import diagnosis


class Command(BaseCommand):
    """Looks and tells; changes nothing."""

    help = "Say what is well, what is not, and the next step to take. Exit code 1 when something vital is missing."
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        """Where to look and how to tell."""
        parser.add_argument("--data", help="data folder of the deployment to look at (default: var/)")
        parser.add_argument("--json", action="store_true", help="for programs")

    def handle(self, *args: Any, **options: Any) -> None:
        """Look at everything."""
        logging.getLogger("psycopg.pool").setLevel(logging.CRITICAL)  # said once, by the findings
        findings = sorted(diagnosis.everything(), key=lambda one: diagnosis.SECTIONS.index(one.section))
        step = diagnosis.next_step(findings)
        bad = [one for one in findings if one.ok is False]
        if options["json"]:
            self.stdout.write(json.dumps(self._as_json(findings, step), indent=1, default=str))
        else:
            for section, group in groupby(findings, key=lambda one: one.section):
                self.stdout.write(f"\n{section}")
                for one in group:
                    mark = {True: "ok", False: "NOT WELL", None: ""}[one.ok]
                    self.stdout.write(f"  {one.name:<44} {one.value}  {mark}".rstrip())
            self.stdout.write(f"\nnext step: {step}")
        if any(one.vital for one in bad):
            sys.exit(1)

    @staticmethod
    def _as_json(findings: list[diagnosis.Finding], step: str) -> dict[str, Any]:
        sections: dict[str, dict[str, Any]] = {}
        for one in findings:
            sections.setdefault(one.section, {})[one.name] = one.value if one.ok is None else {"value": one.value, "ok": one.ok}
        return {"ok": not any(one.ok is False for one in findings), "next_step": step, **sections}
