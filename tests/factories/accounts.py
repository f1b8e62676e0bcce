"""Makes sites, people and grants for tests, and browsers signed in as them."""

from collections.abc import Iterable
from itertools import count

from django.test import Client

from apps.accounts import selectors
from apps.accounts.models import Person, RoleGrant, Site
from apps.kernel import clock
from apps.kernel.types import Actor, Role

PASSWORD = "correct horse battery 42"
_numbers = count(1)


def make_site(slug: str = "", *, name: str = "", is_simulated: bool = False) -> Site:
    """A site; slug and name are made up where not given."""
    slug = slug or f"site-{next(_numbers)}"
    return Site.objects.create(slug=slug, name=name or slug.replace("-", " ").title(), is_simulated=is_simulated)


def make_person(
    name: str = "", *, email: str = "", password: str | None = PASSWORD, is_active: bool = True, is_scripted: bool = False
) -> Person:
    """Somebody without any role."""
    name = name or f"Person {next(_numbers)}"
    email = email or f"{name.lower().replace(' ', '.')}@example.test"
    return Person.objects.create_user(email, password, name=name, is_active=is_active, is_scripted=is_scripted)


def grant(person: Person, site: Site, *roles: Role) -> Person:
    """Give roles at a site, past the rules, and return the person."""
    RoleGrant.objects.bulk_create(
        [RoleGrant(person=person, site=site, role=role, granted_at=clock.now()) for role in roles], ignore_conflicts=True
    )
    return person


def make_people(site: Site, roles: Iterable[Role] = Role) -> dict[Role, Person]:
    """One person for each role at a site, named after it."""
    return {role: grant(make_person(role.label.capitalize()), site, role) for role in roles}


def actor_of(person: Person, *, proved: bool = True) -> Actor:
    """A person as an actor; `proved` gives a proof of identity from now, as after signing in."""
    return selectors.actor_of_person(person, proved_at=clock.now() if proved else None)


def client_of(person: Person | None, *, proved: bool = True, **options: object) -> Client:
    """A browser signed in as somebody (nobody for None); `proved` as in `actor_of`."""
    client = Client(**options)  # type: ignore[arg-type]
    if person is None:
        return client
    client.force_login(person)
    if proved:
        session = client.session
        session["account_authentication_methods_user"] = str(person.pk)
        session["account_authentication_methods"] = [
            {"method": "password", "at": clock.now().timestamp(), "email": person.email}
        ]
        session.save()
    return client
