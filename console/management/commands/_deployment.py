"""Shared by the commands that run the deployment, so that `manage.py help` and `call_command` know them too."""

import argparse
import sys
from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from console.supervisor import cli


class DeploymentCommand(BaseCommand):
    """Hands its arguments to `console.supervisor.cli`."""

    requires_system_checks = ()
    requires_migrations_checks = False
    name = ""

    def add_arguments(self, parser: CommandParser) -> None:
        """The same arguments as without Django."""
        cli.COMMANDS[self.name][1](parser)

    def handle(self, *args: Any, **options: Any) -> None:
        """Run it, and exit with its code."""
        code = cli.run(self.name, argparse.Namespace(**options))
        if code:
            sys.exit(code)
