"""`manage.py backup`; see `console.supervisor`."""

from console.management.commands._deployment import DeploymentCommand
from console.supervisor import cli


class Command(DeploymentCommand):
    """The command as Django knows it."""

    name = "backup"
    help = cli.COMMANDS[name][0]
