"""Makes the tables, the collected files and the cast of the browser tests; a process of its own against its own database."""

import sys

import django
from django.core.management import call_command


def main(password: str) -> None:
    """One site with the whole cast, a second site for one of them, and somebody without any role."""
    django.setup()
    call_command("migrate", verbosity=0)
    call_command("collectstatic", verbosity=0, interactive=False)
    from apps.kernel.types import Role
    from tests.factories import accounts

    site = accounts.make_site("hall-b", name="Delft hall B", is_simulated=True)
    lab = accounts.make_site("lab", name="Lab")
    for role in Role:
        person = accounts.make_person(f"{role.value.replace('_', '-')}-1", email=f"{role.value}@example.org", password=password)
        accounts.grant(person, site, role)
        if role is Role.AUDITOR:
            accounts.grant(person, lab, role)
    accounts.make_person("newcomer-1", email="newcomer@example.org", password=password)


if __name__ == "__main__":
    main(sys.argv[1])
