#!/usr/bin/env python3
"""Entry point of every command: `manage.py up`, `manage.py doctor`, Django's own."""

import os
import sys


def _data_folder(argv: list[str]) -> str | None:
    """Find --data before settings load, since the settings are read from that folder."""
    for index, word in enumerate(argv):
        if word == "--data" and index + 1 < len(argv):
            return argv[index + 1]
        if word.startswith("--data="):
            return word.partition("=")[2]
    return None


def main() -> None:
    """Run one management command."""
    data = _data_folder(sys.argv[2:])
    if data is not None:
        os.environ["PILOTHOUSE_DATA"] = data
    from console.supervisor import cli

    if sys.argv[1:2] and sys.argv[1] in cli.COMMANDS:
        # Before Django: these must work without a database, and the supervisor stays small.
        sys.exit(cli.main(sys.argv[1:]))
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "console.settings.embedded")
    from django.core.exceptions import ImproperlyConfigured
    from django.core.management import execute_from_command_line
    from django.db.utils import OperationalError

    from console.env import BadSetting

    try:
        execute_from_command_line(sys.argv)
    except (ImproperlyConfigured, BadSetting) as error:
        sys.exit(f"Refused to start: {error}")
    except OperationalError as error:
        if "couldn't get a connection" not in str(error) or "--traceback" in sys.argv:
            raise
        sys.exit("No database answers: start the console with `manage.py up`, or ask `manage.py doctor`.")


if __name__ == "__main__":
    main()
