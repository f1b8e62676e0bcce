"""Reads of tokens and machine credentials, and the check of who bears one."""

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from django.db.models import Q

from apps.accounts.models import ApiToken, MachineCredential
from apps.accounts.selectors.people import roles_of
from apps.accounts.types import NO_DIGEST, Secret, SecretKind, VerifiedMachine, VerifiedToken, has_expired, is_revoked, narrowed
from apps.kernel import clock
from apps.kernel.errors import NotSignedIn
from apps.kernel.pagination import Page, by_id
from apps.kernel.types import Actor, ActorKind, Role


def machines_page(site_id: UUID, *, cursor: str | None = None, limit: str | None = None) -> Page[MachineCredential]:
    """Machine credentials of a site that are not revoked, newest first, expired ones among them."""
    return by_id(MachineCredential.objects.filter(site_id=site_id, revoked_at=None), cursor=cursor, limit=limit)


def machines_named(site_id: UUID, name: str) -> list[MachineCredential]:
    """The credential of one machine that is not revoked, if any."""
    return list(MachineCredential.objects.filter(site_id=site_id, name=name, revoked_at=None))


def tokens_of(person_id: UUID) -> list[ApiToken]:
    """A person's tokens that are not revoked, newest first, expired ones among them."""
    return list(ApiToken.objects.filter(person_id=person_id, revoked_at=None).select_related("site").order_by("-id"))


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
    if is_revoked(row.revoked_at):
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


def verify_machine(text: str, *, now: datetime | None = None) -> VerifiedMachine:
    """Which machine bears this credential. Raises NotSignedIn, with a reason only for who holds the whole secret."""
    secret = Secret.parse(text, SecretKind.MACHINE)
    prefix = secret.prefix if secret else ""
    row = MachineCredential.objects.filter(prefix=prefix).first()
    if secret is None or not secret.matches(row.digest if row else NO_DIGEST) or row is None:
        raise NotSignedIn("This machine credential is not known.", code="machine_unknown")
    if is_revoked(row.revoked_at):
        raise NotSignedIn("This machine credential was revoked.", code="machine_revoked")
    if has_expired(row.expires_at, now or clock.now()):
        raise NotSignedIn("This machine credential has expired. Make a new one.", code="machine_expired")
    actor = Actor(ActorKind.MACHINE, row.id, row.name)
    return VerifiedMachine(actor, row.id, row.site_id, tuple(row.subjects), row.expires_at, row.last_used_at)


def machines_holding(credential_ids: Sequence[UUID], *, now: datetime | None = None) -> set[UUID]:
    """Of these machine credentials, those that still hold: for closing the sockets of the others. One query."""
    holding = Q(revoked_at=None, expires_at__gt=now or clock.now())
    return set(MachineCredential.objects.filter(holding, id__in=credential_ids).values_list("id", flat=True))
