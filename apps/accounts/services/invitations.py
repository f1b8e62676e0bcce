"""Invite people and let them in.

An invitation looks the same whether or not the address is known: the person is made, or found, only when the link is used.
"""

import hashlib
from collections.abc import Iterable
from uuid import UUID

from django.contrib.auth.hashers import make_password

from apps.accounts import events, projections
from apps.accounts.lifecycle import decide_acceptance, refuse_self_grant
from apps.accounts.models import Invitation, Person
from apps.accounts.selectors import find_member, find_open_invitation, person_by_email
from apps.accounts.services.people import add_person, check_password_strength, clean_email
from apps.accounts.services.sites import authorise, clean_name, lock_site, site_roles
from apps.accounts.types import INVITATION_LIFE, Member, NewSecret, Secret, SecretKind
from apps.journal.services import Operation, operation
from apps.kernel import clock
from apps.kernel.errors import Conflict, Invalid, NotFound, NotSignedIn
from apps.kernel.ids import new_id
from apps.kernel.types import Actor, ActorKind, Role

VERB = "accounts.manage_people"
GONE = "This invitation does not exist, was used, or has expired. Ask for a new one."


def invite_person(
    *,
    actor: Actor,
    site_id: UUID,
    email: str,
    name: str,
    roles: Iterable[Role],
    idempotency_key: str | None = None,
) -> NewSecret:
    """Ask an address to join a site. The secret goes into the link, is shown once, works once and for 72 hours.

    Raises Invalid, and NotAllowed for one's own address.
    """
    email, name, wanted = clean_email(email), clean_name(name), sorted(set(roles))
    if not wanted:
        raise Invalid("A person without a role sees nothing.", fields={"roles": ["Choose at least one role."]})
    request = {"site_id": site_id, "email": email, "name": name, "roles": wanted}
    with operation(actor, "accounts.invite_person", key=idempotency_key, request=request) as act:
        site = lock_site(site_id)
        authorise(actor, VERB, site)
        if act.is_replay:
            row = Invitation.objects.get(id=act.replayed["invitation_id"])
            return NewSecret(row.id, row.email, row.expires_at, None)
        inviter = actor.id if actor.kind is ActorKind.PERSON else None
        if inviter is not None and Person.objects.filter(id=inviter, email=email).exists():
            refuse_self_grant(inviter, inviter)
        secret, now = Secret.new(SecretKind.INVITATION), clock.now()
        fact = events.PersonInvited(
            invitation_id=new_id(),
            site_id=site.id,
            email=email,
            name=name,
            roles=[role.value for role in wanted],
            prefix=secret.prefix,
            digest=secret.digest.hex(),
            invited_by=inviter,
            invited_at=now,
            expires_at=now + INVITATION_LIFE,
        )
        act.append(events.site_stream(site.id), [fact], site_id=site.id)
        projections.apply_payloads([fact])
        act.done({"invitation_id": str(fact.invitation_id)})
        return NewSecret(fact.invitation_id, email, fact.expires_at, secret.text)


def revoke_invitation(*, actor: Actor, site_id: UUID, invitation_id: UUID, idempotency_key: str | None = None) -> None:
    """Make a link useless. Raises NotFound, Conflict when it was used or revoked before."""
    request = {"site_id": site_id, "invitation_id": invitation_id}
    with operation(actor, "accounts.revoke_invitation", key=idempotency_key, request=request) as act:
        site = lock_site(site_id)
        authorise(actor, VERB, site)
        row = Invitation.objects.filter(id=invitation_id, site=site).first()
        if row is None:
            raise NotFound("There is nothing here.")
        if act.is_replay:
            return
        if row.accepted_at is not None or row.revoked_at is not None:
            raise Conflict("This invitation was used or revoked already.", code="invitation_spent")
        fact = events.InvitationRevoked(invitation_id=row.id, revoked_at=clock.now())
        act.append(events.site_stream(site.id), [fact], site_id=site.id)
        projections.apply_payloads([fact])
        act.done({})


def accept_as_new_person(*, link_text: str, name: str, password: str) -> Person | None:
    """Make the invited person, with this password, and give the roles. The link is the proof of who they are.

    None, and nothing done, when the address is known: that person signs in and accepts as themselves; saying so
    here would tell the holder of any link who has an account. Raises NotFound, Invalid, Conflict.
    """
    name = clean_name(name)
    row = _open(link_text)
    person_id = new_id()
    # Before the look-up, and hashed in either case: neither answer nor time may tell whether the address is known.
    # And before the lock: a hash takes long, and whoever holds a link could keep the whole site waiting with one after another.
    check_password_strength(password, Person(id=person_id, email=row.email, name=name))
    hashed = make_password(password)
    actor = Actor(ActorKind.PERSON, person_id, name)
    with operation(actor, "accounts.accept_invitation") as act:
        site = lock_site(row.site_id)
        row = _open(link_text)  # again, now that the site's lock makes us the only one
        if person_by_email(row.email) is not None:
            return None
        act.lock(events.site_stream(site.id), events.person_stream(person_id))
        person = add_person(act, email=row.email, name=name, password=None, person_id=person_id)
        person.password = hashed
        person.save(update_fields=["password"])
        member = Member(person.id, person.name, person.email, is_active=True, is_scripted=False, roles=frozenset())
        _accept(act, row, site_id=site.id, member=member)
        return person


def accept_invitation(*, actor: Actor, link_text: str, idempotency_key: str | None = None) -> None:
    """Take the offered roles as the signed-in person of that address. Raises NotFound, Conflict."""
    if actor.kind is not ActorKind.PERSON or actor.id is None:
        raise NotSignedIn("Sign in first.")
    request = {"link": hashlib.sha256(link_text.encode("utf-8", "surrogatepass")).hexdigest()}
    with operation(actor, "accounts.accept_invitation", key=idempotency_key, request=request) as act:
        if act.is_replay:
            return
        row = _open(link_text)
        site = lock_site(row.site_id)
        row = _open(link_text)
        person = Person.objects.get(id=actor.id)
        held = find_member(site.id, person.id)
        roles = held.roles if held is not None else frozenset()
        member = Member(person.id, person.name, person.email, person.is_active, person.is_scripted, roles)
        _accept(act, row, site_id=site.id, member=member)
        act.done({})


def _accept(act: Operation, row: Invitation, *, site_id: UUID, member: Member) -> None:
    facts = decide_acceptance(
        invitation_id=row.id,
        invited_email=row.email,
        invited_roles=[Role(role) for role in row.roles],
        invited_by=row.invited_by,
        site=site_roles(row.site),
        member=member,
        grant_ids=[new_id() for _ in row.roles],
        now=clock.now(),
    )
    act.append(events.site_stream(site_id), facts, site_id=site_id)
    projections.apply_payloads(facts)


def _open(link_text: str) -> Invitation:
    row = find_open_invitation(link_text)
    if row is None:
        raise NotFound(GONE, code="invitation_gone")
    return row
