"""`check --deploy` under production settings, and no model without its migration. Opens no connection."""

import sys
import warnings
from pathlib import Path

import django
from django.conf import settings
from django.core.management import call_command
from django.core.management.base import CommandError, SystemCheckError

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))


def main() -> int:
    """Run both. Returns the exit status."""
    warnings.filterwarnings("ignore", message="No directory at")  # static files are collected later
    # makemigrations would ask the database for its history; the comparison itself needs none.
    settings.DATABASES["default"]["ENGINE"] = "django.db.backends.dummy"
    django.setup()
    status = 0
    try:
        call_command("makemigrations", check_changes=True, dry_run=True, verbosity=1)
    except (SystemExit, CommandError) as error:
        print(f"models and migrations differ: {error}")
        status = 1
    settings.DATABASES["default"]["ENGINE"] = "django.db.backends.postgresql"
    try:
        call_command("check", deploy=True, fail_level="WARNING")
    except SystemCheckError as error:
        print(error)
        status = 1
    return status


if __name__ == "__main__":
    sys.exit(main())
