"""Reads of accounts."""

from collections import defaultdict
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from apps.accounts.models import Person, RoleGrant, Site
from apps.kernel.types import ANONYMOUS, Actor, ActorKind, Role


def find_site(slug: str) -> Site | None:
    """The site with this slug, or None."""
    return Site.objects.filter(slug=slug).first()


def roles_of(person_id: UUID) -> dict[UUID, frozenset[Role]]:
    """Roles of one person by site; empty for somebody who is not active."""
    held: dict[UUID, set[Role]] = defaultdict(set)
    rows = RoleGrant.objects.filter(person_id=person_id, person__is_active=True).values_list("site_id", "role")
    for site_id, role in rows:
        held[site_id].add(Role(role))
    return {site_id: frozenset(roles) for site_id, roles in held.items()}


def actor_of_person(person: Person, *, proved_at: datetime | None = None) -> Actor:
    """A signed-in person as an actor, with the roles held now."""
    if not person.is_active:
        return ANONYMOUS
    return Actor(ActorKind.PERSON, person.id, person.name, roles_of(person.id), proved_at)


def proved_at_of(session: Any) -> datetime | None:
    """When the person of this session last proved who they are."""
    methods = session.get("account_authentication_methods") or []
    times = [method["at"] for method in methods if "at" in method]
    return datetime.fromtimestamp(max(times), UTC) if times else None


def sites_of(actor: Actor) -> list[Site]:
    """Sites at which the actor holds a role, by name."""
    return list(Site.objects.filter(id__in=list(actor.roles)).order_by("name"))
