"""Whatever people do to rights, replaying the facts from empty gives the tables, and a refusal leaves no trace."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest
from django.db import transaction
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st

from apps.accounts import projections, services
from apps.accounts.models import ApiToken, Invitation, MachineCredential, Person, Preferences, RoleGrant, Site
from apps.journal.models import Event
from apps.journal.selectors import chain_faults
from apps.journal.services import as_recorded
from apps.kernel.errors import Refusal
from apps.kernel.types import Role, system_actor
from tests.factories.accounts import PASSWORD, actor_of

CONSOLE = system_actor("property test")
# In the order in which rows may be deleted.
TABLES = (ApiToken, MachineCredential, Preferences, Invitation, RoleGrant, Person, Site)
NO_FACTS = {"password", "last_login", "last_used_at"}
SMALL = st.integers(0, 3)
COMMANDS: dict[str, Callable[["World", int, int, int], Any]] = {}


def command(act):
    COMMANDS[act.__name__] = act
    return act


@dataclass
class World:
    """Two sites, four people, and what was handed out."""

    sites: list[Site]
    people: list[Person]
    links: list[str] = field(default_factory=list)
    key: int = 0

    def actor(self, number):
        return actor_of(Person.objects.get(id=self.people[number].id))

    def site(self, number):
        return self.sites[number % len(self.sites)]


def first(rows, number):
    found = list(rows.order_by("id"))
    return found[number % len(found)] if found else None


ROLES = [Role.ADMIN, Role.VIEWER, Role.APPROVER, Role.OPERATOR]


@command
def grant(world, who, whom, which):
    services.grant_role(
        actor=world.actor(who), site_id=world.site(which).id, person_id=world.people[whom].id, role=ROLES[(who + which) % 4]
    )


@command
def grant_by_console(world, who, whom, which):
    services.grant_role(actor=CONSOLE, site_id=world.site(who).id, person_id=world.people[whom].id, role=ROLES[which])


@command
def revoke(world, who, whom, which):
    services.revoke_role(
        actor=world.actor(who), site_id=world.site(which).id, person_id=world.people[whom].id, role=ROLES[which]
    )


@command
def remove(world, who, whom, which):
    services.remove_person(actor=world.actor(who), site_id=world.site(which).id, person_id=world.people[whom].id)


@command
def invite(world, who, whom, which):
    known = [person.email for person in world.people]
    email = known[whom] if which % 2 else f"invited{whom}@example.test"
    made = services.invite_person(
        actor=world.actor(who), site_id=world.site(which).id, email=email, name="Invited", roles=ROLES[: which + 1]
    )
    world.links.append(made.text)


@command
def accept_as_new(world, who, whom, which):
    if world.links:
        services.accept_as_new_person(link_text=world.links[who % len(world.links)], name="Joined", password=PASSWORD)


@command
def accept_as_known(world, who, whom, which):
    if world.links:
        services.accept_invitation(actor=world.actor(who), link_text=world.links[whom % len(world.links)])


@command
def revoke_invitation(world, who, whom, which):
    row = first(Invitation.objects, whom)
    if row:
        services.revoke_invitation(actor=world.actor(who), site_id=row.site_id, invitation_id=row.id)


@command
def switch_off(world, who, whom, which):
    services.deactivate_person(actor=CONSOLE, person_id=world.people[whom].id)


@command
def switch_on(world, who, whom, which):
    services.reactivate_person(actor=CONSOLE, person_id=world.people[whom].id)


@command
def prefer(world, who, whom, which):
    look = {"theme": ("system", "light", "dark", "pink")[which], "density": "compact", "single_keys": bool(whom % 2)}
    services.change_preferences(actor=world.actor(who), **look)


@command
def make_token(world, who, whom, which):
    actor = world.actor(who)
    services.create_token(
        actor=actor, person_id=world.people[who].id, site_id=world.site(whom).id, role=ROLES[which], name=f"token {which}"
    )


@command
def revoke_token(world, who, whom, which):
    row = first(ApiToken.objects, whom)
    if row:
        services.revoke_token(actor=world.actor(who), token_id=row.id)


@command
def make_machine(world, who, whom, which):
    services.create_machine_credential(actor=world.actor(who), site_id=world.site(whom).id, name=f"bridge {which}")


@command
def revoke_machine(world, who, whom, which):
    row = first(MachineCredential.objects, whom)
    if row:
        services.revoke_machine_credential(actor=world.actor(who), site_id=row.site_id, credential_id=row.id)


@command
def make_site(world, who, whom, which):
    world.sites.append(services.create_site(actor=world.actor(who), slug=f"made-{whom}", name=f"Made {which}"))


@command
def rename_site(world, who, whom, which):
    services.change_site_settings(
        actor=world.actor(who), site_id=world.site(whom).id, name=f"Name {which}", time_zone="UTC", expected=which
    )


@command
def grant_twice(world, who, whom, which):
    world.key += 1
    act = {"actor": world.actor(who), "site_id": world.site(which).id, "person_id": world.people[whom].id}
    for _ in range(2):
        services.grant_role(**act, role=ROLES[which], idempotency_key=str(world.key))


def begin():
    sites = [
        services.create_site(actor=CONSOLE, slug=f"replayed-{n}", name=f"Site {n}", is_simulated=bool(n)) for n in range(2)
    ]
    people = [services.create_person(actor=CONSOLE, email=f"p{n}@example.test", name=f"P {n}") for n in range(4)]
    for site in sites:
        for person, role in zip(people, (Role.ADMIN, Role.ADMIN, Role.VIEWER, Role.REVIEWER), strict=True):
            services.grant_role(actor=CONSOLE, site_id=site.id, person_id=person.id, role=role)
    return World(sites, people)


def tables():
    """Every projected value of every row."""
    return {
        table.__name__: sorted(
            str({name: value for name, value in row.items() if name not in NO_FACTS}) for row in table.objects.values()
        )
        for table in TABLES
    }


def rebuild(times):
    for table in TABLES:
        table.objects.all().delete()
    for row in Event.objects.order_by("position"):
        for _ in range(times):
            assert projections.apply_recorded(as_recorded(row))


def with_person_who_can_manage():
    """Sites that have had an admin keep one who is a person and active."""
    held = RoleGrant.objects.filter(role="admin", person__is_active=True, person__is_scripted=False)
    return set(held.values_list("site_id", flat=True))


@pytest.mark.django_db
@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(st.sampled_from(sorted(COMMANDS)), SMALL, SMALL, SMALL), min_size=6, max_size=30))
def test_replay_from_empty_equals_the_tables(commands):
    with transaction.atomic():
        world = begin()
        managed = with_person_who_can_manage()
        for name, who, whom, which in commands:
            facts = Event.objects.count()
            try:
                COMMANDS[name](world, who, whom, which)
                event(f"{name}: done")
            except Refusal:
                event(f"{name}: refused")
                assert Event.objects.count() == facts
            assert managed <= with_person_who_can_manage()
            managed = with_person_who_can_manage()
        live = tables()
        assert not list(chain_faults())
        rebuild(times=1)
        assert tables() == live
        rebuild(times=2)
        assert tables() == live
        transaction.set_rollback(True)
