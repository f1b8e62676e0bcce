"""Give and take roles. A change holds from the next request on, since roles are loaded with each."""

from collections.abc import Iterable
from uuid import UUID

from apps.accounts import events, projections
from apps.accounts.lifecycle import decide_grant, decide_revoke
from apps.accounts.models import Person, Site
from apps.accounts.selectors import find_member
from apps.accounts.services.sites import authorise, lock_site, site_roles
from apps.accounts.types import Member
from apps.journal.services import operation
from apps.journal.types import Payload
from apps.kernel import clock
from apps.kernel.errors import NotFound
from apps.kernel.ids import new_id
from apps.kernel.types import Actor, ActorKind, Role

VERB = "accounts.manage_people"


def grant_role(
    *,
    actor: Actor,
    site_id: UUID,
    person_id: UUID,
    role: Role,
    roles_seen: Iterable[Role] | None = None,
    idempotency_key: str | None = None,
) -> Member:
    """Give a role to somebody who holds one at the site already; others are invited, so that nobody is looked up by id.

    `roles_seen` are the roles the page showed. Raises Stale, Conflict, NotAllowed, NotFound.
    """
    seen = frozenset(roles_seen) if roles_seen is not None else None
    request = {"site_id": site_id, "person_id": person_id, "role": role, "seen": sorted(seen) if seen is not None else None}
    with operation(actor, "accounts.grant_role", key=idempotency_key, request=request) as act:
        site = lock_site(site_id)
        authorise(actor, VERB, site)
        member = _load_member(actor, site, person_id)
        if act.is_replay:
            return member
        facts = decide_grant(
            site_roles(site),
            member,
            role,
            granted_by=actor.id if actor.kind is ActorKind.PERSON else None,
            grant_id=new_id(),
            now=clock.now(),
            roles_seen=seen,
        )
        act.append(events.site_stream(site.id), facts, site_id=site.id)
        projections.apply_payloads(facts)
        act.done({})
        return _load_member(actor, site, person_id)


def revoke_role(
    *,
    actor: Actor,
    site_id: UUID,
    person_id: UUID,
    role: Role,
    roles_seen: Iterable[Role] | None = None,
    idempotency_key: str | None = None,
) -> Member | None:
    """Take one role away; None when it was the last one here. The last admin of a site stays. As `grant_role` otherwise."""
    return _revoke(actor, site_id, person_id, role, roles_seen, idempotency_key)


def remove_person(
    *,
    actor: Actor,
    site_id: UUID,
    person_id: UUID,
    roles_seen: Iterable[Role] | None = None,
    idempotency_key: str | None = None,
) -> None:
    """Take every role at the site away. What the person holds at other sites is none of its admins' business."""
    _revoke(actor, site_id, person_id, None, roles_seen, idempotency_key)


def _revoke(
    actor: Actor,
    site_id: UUID,
    person_id: UUID,
    role: Role | None,
    roles_seen: Iterable[Role] | None,
    idempotency_key: str | None,
) -> Member | None:
    seen = frozenset(roles_seen) if roles_seen is not None else None
    request = {"site_id": site_id, "person_id": person_id, "role": role, "seen": sorted(seen) if seen is not None else None}
    verb = "accounts.remove_person" if role is None else "accounts.revoke_role"
    with operation(actor, verb, key=idempotency_key, request=request) as act:
        site = lock_site(site_id)
        authorise(actor, VERB, site)
        if act.is_replay:
            return find_member(site_id, person_id)
        member = find_member(site_id, person_id)
        if member is None:
            raise NotFound("There is nothing here.")
        taken = member.roles if role is None else frozenset({role})
        facts: list[Payload] = decide_revoke(site_roles(site), member, taken, roles_seen=seen)
        act.append(events.site_stream(site.id), facts, site_id=site.id)
        projections.apply_payloads(facts)
        act.done({})
        return find_member(site_id, person_id)


def _load_member(actor: Actor, site: Site, person_id: UUID) -> Member:
    """Somebody of this site; for the console itself anybody."""
    member = find_member(site.id, person_id)
    if member is None and actor.kind is ActorKind.SYSTEM:
        person = Person.objects.filter(id=person_id).first()
        if person is not None:
            return Member(person.id, person.name, person.email, person.is_active, person.is_scripted, frozenset())
    if member is None:
        raise NotFound("There is nothing here.")
    return member
