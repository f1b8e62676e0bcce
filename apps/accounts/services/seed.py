"""What an empty console needs: a site, and somebody who can sign in to it."""

import json
import os
import secrets
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

from django.db import transaction

from apps.accounts.models import Person, Site
from apps.accounts.selectors import find_member, find_site, person_by_email
from apps.accounts.services.people import create_person
from apps.accounts.services.roles import grant_role
from apps.accounts.services.sites import create_site
from apps.kernel.errors import Conflict
from apps.kernel.types import Role, system_actor

DOMAIN = "pilothouse.localhost"
SITE_SLUG, SITE_NAME = "hall-a", "Hall A"
DEMO_SITE = ("demo-hall", "Demo hall")  # where the first site is a real one
SEED = system_actor("seed")


@dataclass(frozen=True)
class SeededAccount:
    """An account made at first start. Its password is known only to the file beside the database."""

    email: str
    name: str
    role: str
    site: str
    password: str = field(repr=False)


def seed_deployment(accounts_file: Path, *, demo: bool) -> Sequence[SeededAccount]:
    """Make what is missing and return the accounts made now. Never touches a password, a role or a site that exists.

    With `demo` there is a site marked simulated, with one person for each role; otherwise a site with one admin.
    """
    with transaction.atomic():
        site, is_new = _demo_site() if demo else _first_site()
        made = []
        for role in Role if demo else (Role.ADMIN,):
            email = f"{role.value.replace('_', '.')}@{DOMAIN}"
            person = person_by_email(email)
            if person is None:
                made.append(_account(site, email, f"Demo {role.label}" if demo else "Admin", role))
            elif is_new:
                grant_role(actor=SEED, site_id=site.id, person_id=person.id, role=role)
        if made:
            # Before the commit: a crash in between leaves passwords of nobody, not accounts nobody can enter.
            _keep(accounts_file, made)
    return made


def _first_site() -> tuple[Site, bool]:
    found = find_site(SITE_SLUG)
    return (found, False) if found else (create_site(actor=SEED, slug=SITE_SLUG, name=SITE_NAME), True)


def demo_site() -> Site:
    """The site of the demo, made where it is missing. Raises Conflict where its name is taken by a real one."""
    with transaction.atomic():
        return _demo_site()[0]


def _demo_site() -> tuple[Site, bool]:
    """The site of the demo: never one where people do real work."""
    for slug, name in ((SITE_SLUG, SITE_NAME), DEMO_SITE):
        found = find_site(slug)
        if found is None:
            return create_site(actor=SEED, slug=slug, name=name, is_simulated=True), True
        if found.is_simulated:
            return found, False
    raise Conflict(f"The site {DEMO_SITE[0]} exists and is not simulated, so the demo has no place.")


def _account(site: Site, email: str, name: str, role: Role) -> SeededAccount:
    password = secrets.token_urlsafe(15)
    is_staff = role is Role.ADMIN
    person = create_person(actor=SEED, email=email, name=name, password=password, is_staff=is_staff)
    grant_role(actor=SEED, site_id=site.id, person_id=person.id, role=role)
    return SeededAccount(email, name, role.value, site.slug, password)


def service_person(site: Site, role: Role) -> Person:
    """The program's account that holds one role at a site, made on first use. It has no password and signs in nowhere."""
    email = f"service.{role.value.replace('_', '.')}.{site.slug}@{DOMAIN}"
    actor = system_actor("token command")
    with transaction.atomic():
        person = person_by_email(email) or create_person(
            actor=actor, email=email, name=f"Service {role.label}", is_scripted=True
        )
        member = find_member(site.id, person.id)
        if member is None or role not in member.roles:
            grant_role(actor=actor, site_id=site.id, person_id=person.id, role=role)
    return person


def _keep(path: Path, made: Sequence[SeededAccount]) -> None:
    """Add accounts to the file only its owner may read, replacing older lines of the same address."""
    try:
        before = json.loads(path.read_text())["accounts"]
    except (FileNotFoundError, ValueError, KeyError):
        before = []
    new = {account.email for account in made}
    kept = [line for line in before if line.get("email") not in new] + [asdict(account) for account in made]
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    partial = path.with_suffix(".partial")
    partial.unlink(missing_ok=True)
    with os.fdopen(os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        json.dump({"accounts": kept}, file, indent=2)
        file.flush()
        os.fsync(file.fileno())
    partial.rename(path)
