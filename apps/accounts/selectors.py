"""Reads of accounts."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db.models import Prefetch, Q
from django.urls import reverse

from apps.accounts.models import ApiToken, Invitation, MachineCredential, Person, Preferences, RoleGrant, Site
from apps.accounts.types import NO_DIGEST, Display, Member, Secret, SecretKind, VerifiedMachine, VerifiedToken
from apps.kernel import clock
from apps.kernel.errors import NotFound, NotSignedIn
from apps.kernel.pagination import Page, by_id
from apps.kernel.types import ANONYMOUS, Actor, ActorKind, Role


def find_site(slug: str) -> Site | None:
    """The site with this slug, or None."""
    return Site.objects.filter(slug=slug).first()


def get_site(site_id: UUID) -> Site:
    """One site. Raises NotFound."""
    site = Site.objects.filter(id=site_id).first()
    if site is None:
        raise NotFound("There is nothing here.")
    return site


def sites_of(actor: Actor) -> list[Site]:
    """Sites at which the actor holds a role, by name."""
    return list(Site.objects.filter(id__in=list(actor.roles)).order_by("name"))


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


def preferences_of(person_id: UUID) -> Display:
    """What the person chose, or what everybody starts with."""
    row = Preferences.objects.filter(person_id=person_id).first()
    return Display(row.theme, row.density, row.single_keys) if row is not None else Display()


def members_page(site_id: UUID, *, cursor: str | None = None, limit: str | None = None) -> Page[Member]:
    """People who hold a role at the site, newest first. Raises Invalid for a wrong cursor."""
    held = RoleGrant.objects.filter(site_id=site_id)
    people = Person.objects.filter(id__in=held.values("person_id")).prefetch_related(
        Prefetch("grants", queryset=held.order_by("role"), to_attr="grants_here")
    )
    page = by_id(people, cursor=cursor, limit=limit)
    return Page([_member(person, person.grants_here) for person in page.rows], page.next_cursor)  # type: ignore[attr-defined]


def find_member(site_id: UUID, person_id: UUID) -> Member | None:
    """Somebody who holds a role at the site; None for anybody else, whether they exist or not."""
    grants = list(RoleGrant.objects.filter(site_id=site_id, person_id=person_id).select_related("person"))
    return _member(grants[0].person, grants) if grants else None


def _member(person: Person, grants: Iterable[RoleGrant]) -> Member:
    roles = frozenset(Role(grant.role) for grant in grants)
    return Member(person.id, person.name, person.email, person.is_active, person.is_scripted, roles)


def person_by_email(email: str) -> Person | None:
    """The person who signs in with this address. For the console's own use: never shown to an admin of a site."""
    return Person.objects.filter(email=email.strip().lower()).first()


def open_invitations(site_id: UUID, *, now: datetime | None = None, most: int = 200) -> list[Invitation]:
    """Invitations to a site whose link still works, newest first."""
    rows = Invitation.objects.filter(site_id=site_id, accepted_at=None, revoked_at=None, expires_at__gt=now or clock.now())
    return list(rows.order_by("-id")[:most])


def find_open_invitation(text: str, *, now: datetime | None = None) -> Invitation | None:
    """The invitation behind a link, if the link still works."""
    secret = Secret.parse(text, SecretKind.INVITATION)
    row = Invitation.objects.filter(prefix=secret.prefix).select_related("site").first() if secret else None
    if secret is None or not secret.matches(row.digest if row else NO_DIGEST) or row is None:
        return None
    spent = row.accepted_at is not None or row.revoked_at is not None or has_expired(row.expires_at, now or clock.now())
    return None if spent else row


def invitation_link(text: str) -> str:
    """The address to hand to the invited person, always under the console's one public address."""
    return f"{settings.PUBLIC_URL}{reverse('accounts:invitation', args=[text])}"


def machines_page(site_id: UUID, *, cursor: str | None = None, limit: str | None = None) -> Page[MachineCredential]:
    """Machine credentials of a site that are not revoked, newest first, expired ones among them."""
    return by_id(MachineCredential.objects.filter(site_id=site_id, revoked_at=None), cursor=cursor, limit=limit)


def tokens_of(person_id: UUID) -> list[ApiToken]:
    """A person's tokens that are not revoked, newest first, expired ones among them."""
    return list(ApiToken.objects.filter(person_id=person_id, revoked_at=None).select_related("site").order_by("-id"))


def has_expired(expires_at: datetime, now: datetime) -> bool:
    """Whether a credential's time is over."""
    return expires_at <= now


def verify_token(text: str, *, now: datetime | None = None) -> VerifiedToken:
    """Who bears this token. Raises NotSignedIn, with a reason only for somebody who holds the whole secret.

    The actor has the token's one role at its one site, as far as the person still holds it there.
    """
    secret = Secret.parse(text, SecretKind.TOKEN)
    prefix = secret.prefix if secret else ""
    row = ApiToken.objects.filter(prefix=prefix).select_related("person").first()
    # Always one look-up and one comparison: the time says nothing about which part was wrong.
    if secret is None or not secret.matches(row.digest if row else NO_DIGEST) or row is None:
        raise NotSignedIn("This token is not known.", code="token_unknown")
    if row.revoked_at is not None:
        raise NotSignedIn("This token was revoked.", code="token_revoked")
    if has_expired(row.expires_at, now or clock.now()):
        raise NotSignedIn("This token has expired. Make a new one.", code="token_expired")
    if not row.person.is_active:
        raise NotSignedIn("The person of this token is no longer active.", code="person_inactive")
    held = roles_of(row.person_id).get(row.site_id, frozenset())
    reach = narrowed(Role(row.role), held)
    roles = {row.site_id: reach} if reach else {}
    actor = Actor(ActorKind.TOKEN, row.person_id, row.person.name, roles, token_id=row.id)
    return VerifiedToken(actor, row.id, row.person_id, row.site_id, row.last_used_at)


def narrowed(role: Role, held: frozenset[Role]) -> frozenset[Role]:
    """What a token of one role reaches: that role if it is still held. Viewing is part of every role."""
    return frozenset({role}) if role in held or (role is Role.VIEWER and held) else frozenset()


def verify_machine(text: str, *, now: datetime | None = None) -> VerifiedMachine:
    """Which machine bears this credential. Raises NotSignedIn, with a reason only for who holds the whole secret."""
    secret = Secret.parse(text, SecretKind.MACHINE)
    prefix = secret.prefix if secret else ""
    row = MachineCredential.objects.filter(prefix=prefix).first()
    if secret is None or not secret.matches(row.digest if row else NO_DIGEST) or row is None:
        raise NotSignedIn("This machine credential is not known.", code="machine_unknown")
    if row.revoked_at is not None:
        raise NotSignedIn("This machine credential was revoked.", code="machine_revoked")
    if has_expired(row.expires_at, now or clock.now()):
        raise NotSignedIn("This machine credential has expired. Make a new one.", code="machine_expired")
    actor = Actor(ActorKind.MACHINE, row.id, row.name)
    return VerifiedMachine(actor, row.id, row.site_id, tuple(row.subjects), row.expires_at, row.last_used_at)


def machines_holding(credential_ids: Sequence[UUID], *, now: datetime | None = None) -> set[UUID]:
    """Of these machine credentials, those that still hold: for closing the sockets of the others. One query."""
    holding = Q(revoked_at=None, expires_at__gt=now or clock.now())
    return set(MachineCredential.objects.filter(holding, id__in=credential_ids).values_list("id", flat=True))


def people_active(person_ids: Sequence[UUID]) -> set[UUID]:
    """Of these people, those who may still act: for closing the sockets of the others. One query."""
    return set(Person.objects.filter(id__in=person_ids, is_active=True).values_list("id", flat=True))
