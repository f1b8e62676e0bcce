"""`manage.py token`: an API token for a program, from the machine the console runs on."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from apps.accounts import selectors, services
from apps.accounts.types import TOKEN_DAYS, TOKEN_DAYS_MOST
from apps.kernel.errors import Refusal
from apps.kernel.types import Role, system_actor


class Command(BaseCommand):
    """Prints the token last and once; only its digest is kept."""

    help = "Make an API token of one role at one site, for a program; print it last, once."

    def add_arguments(self, parser: CommandParser) -> None:
        """Whose token, where, how long."""
        parser.add_argument("--role", required=True, choices=[role.value for role in Role], help="the role it acts in")
        parser.add_argument("--site", help="short name of the site; the first one made if absent")
        parser.add_argument("--days", type=int, default=TOKEN_DAYS, help=f"days until it ends, at most {TOKEN_DAYS_MOST}")
        parser.add_argument("--name", default="made by manage.py token", help="what the token is for")
        parser.add_argument("--data", help="data folder of the deployment")

    def handle(self, *args: Any, **options: Any) -> None:
        """What it is goes to stderr, the token alone to stdout."""
        site = selectors.find_site(options["site"]) if options["site"] else selectors.first_site()
        if site is None:
            raise CommandError(f"There is no site {options['site']!r}." if options["site"] else "There is no site yet.")
        role = Role(options["role"])
        try:
            person = services.service_person(site, role)
            made = services.create_token(
                actor=system_actor("token command"),
                person_id=person.id,
                site_id=site.id,
                role=role,
                name=options["name"],
                days=options["days"],
            )
        except Refusal as refusal:
            reasons = " ".join(reason for reasons in refusal.fields.values() for reason in reasons)
            raise CommandError(f"{refusal.message} {reasons}".strip()) from refusal
        self.stderr.write(f"{role.label} at {site.name}, until {made.expires_at:%Y-%m-%d %H:%M} UTC, shown once:")
        self.stdout.write(made.text or "")
