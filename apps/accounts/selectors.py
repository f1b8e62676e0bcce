"""Reads of accounts."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from django.contrib.auth import HASH_SESSION_KEY, SESSION_KEY
from django.contrib.sessions.models import Session
from django.utils.crypto import constant_time_compare

from apps.accounts.models import Person, RoleGrant, Site
from apps.kernel import clock
from apps.kernel.ids import parse_id
from apps.kernel.types import ANONYMOUS, Actor, ActorKind, Role

# What the sign-in library records; a reset link or a social sign-in would be recorded too and proves nothing here.
_PROOFS = frozenset({"password", "mfa"})


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
    proofs = session.get("account_authentication_methods") or []
    times = [proof["at"] for proof in proofs if proof.get("method") in _PROOFS and "at" in proof]
    return datetime.fromtimestamp(max(times), UTC) if times else None


def sites_of(actor: Actor) -> list[Site]:
    """Sites at which the actor holds a role, by name."""
    return list(Site.objects.filter(id__in=list(actor.roles)).order_by("name"))


@dataclass(frozen=True)
class Standing:
    """What a live session may count on now. Somebody without a standing has none: close the socket."""

    person_id: UUID
    roles: Mapping[UUID, frozenset[Role]]


def sessions_in_force(keys: Iterable[str]) -> dict[str, UUID]:
    """The person of each session that still holds: not ended, not expired, person active, password unchanged.

    Two queries whatever the number of keys. A key that is missing from the answer is no longer in force.
    """
    held = {row.session_key: row.get_decoded() for row in Session.objects.filter(pk__in=set(keys), expire_date__gt=clock.now())}
    wanted = {parse_id(data.get(SESSION_KEY, "")) for data in held.values()} - {None}
    people = {person.id: person for person in Person.objects.filter(id__in=wanted, is_active=True).only("password")}
    found: dict[str, UUID] = {}
    for key, data in held.items():
        person = people.get(parse_id(data.get(SESSION_KEY, "")))  # type: ignore[arg-type]
        if person is not None and constant_time_compare(data.get(HASH_SESSION_KEY, ""), person.get_session_auth_hash()):
            found[key] = person.id
    return found


def roles_of_many(person_ids: Iterable[UUID]) -> dict[UUID, dict[UUID, frozenset[Role]]]:
    """Roles by site of each active person, in one query. A person without any role is missing from the answer."""
    held: dict[UUID, dict[UUID, set[Role]]] = defaultdict(lambda: defaultdict(set))
    rows = RoleGrant.objects.filter(person_id__in=set(person_ids), person__is_active=True)
    for person_id, site_id, role in rows.values_list("person_id", "site_id", "role"):
        held[person_id][site_id].add(Role(role))
    return {person_id: {site_id: frozenset(roles) for site_id, roles in sites.items()} for person_id, sites in held.items()}


def standing_of(sessions: Iterable[tuple[str, UUID]]) -> dict[str, Standing]:
    """The standing of each (session key, person id) pair, by session key; three queries whatever their number.

    A session that ended, or that now belongs to somebody else, is missing from the answer.
    """
    claimed = dict(sessions)
    held = {key: person for key, person in sessions_in_force(claimed).items() if claimed[key] == person}
    roles = roles_of_many(held.values())
    return {key: Standing(person_id, roles.get(person_id, {})) for key, person_id in held.items()}
