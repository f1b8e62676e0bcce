"""What may change about people, roles and credentials, pure: from what is loaded to the facts that follow.

Each `decide_…` returns the payloads to append, or raises the refusal.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TypeVar
from uuid import UUID

from apps.accounts import events
from apps.accounts.types import MACHINE_DAYS_MOST, TOKEN_DAYS_MOST, TOKENS_MOST, Member, Secret, narrowed
from apps.journal.types import Payload
from apps.kernel.errors import Conflict, Invalid, NotAllowed, NotFound, Stale
from apps.kernel.types import Role

Seen = TypeVar("Seen")
INVITER_GONE = "Whoever sent this invitation is no longer an admin of the site. Ask for a new one."


@dataclass(frozen=True)
class SiteRoles:
    """What a decision about roles needs to know of a site."""

    site_id: UUID
    admins: frozenset[UUID]  # active people, no programs, who are admin now
    is_simulated: bool = False


def refuse_self_grant(granted_by: UUID | None, person_id: UUID) -> None:
    """Nobody gives a role to themselves: so an admin cannot become approver without another admin."""
    if granted_by is not None and granted_by == person_id:
        raise NotAllowed("Nobody grants a role to themselves. Ask another admin of this site.", code="self_grant")


def refuse_last_admin(site: SiteRoles, member: Member) -> None:
    """A site keeps at least one admin who is a person and active."""
    if member.counts_as_admin and not site.admins - {member.id}:
        raise Conflict("This is the last admin of the site. Make somebody else admin first.", code="last_admin")


def refuse_stale(seen: Seen | None, now: Seen, what: str) -> None:
    """Refuse a decision made on something that is no longer so; None means it was not made on a page."""
    if seen is not None and seen != now:
        raise Stale(f"{what} changed since you looked. Nothing was done; look again.")


def refuse_program_as_approver(site: SiteRoles, member: Member, role: Role) -> None:
    """A program never approves, except at a site marked simulated."""
    if role is Role.APPROVER and member.is_scripted and not site.is_simulated:
        raise NotAllowed("A program may be approver only at a simulated site.", code="program_approver")


def decide_grant(
    site: SiteRoles,
    member: Member,
    role: Role,
    *,
    granted_by: UUID | None,
    grant_id: UUID,
    now: datetime,
    roles_seen: frozenset[Role] | None = None,
) -> list[Payload]:
    """Give one role."""
    refuse_self_grant(granted_by, member.id)
    refuse_program_as_approver(site, member, role)
    refuse_stale(roles_seen, member.roles, "The roles of this person")
    if not member.is_active:
        raise Conflict("This person is not active.", code="person_inactive")
    if role in member.roles:
        raise Conflict(f"This person is {role.label} already.", code="role_held")
    return [
        events.RoleGranted(
            grant_id=grant_id,
            person_id=member.id,
            site_id=site.site_id,
            role=role.value,
            granted_by=granted_by,
            granted_at=now,
        )
    ]


def decide_revoke(
    site: SiteRoles, member: Member, roles: Collection[Role], *, roles_seen: frozenset[Role] | None = None
) -> list[Payload]:
    """Take roles away."""
    refuse_stale(roles_seen, member.roles, "The roles of this person")
    missing = sorted(role.label for role in roles if role not in member.roles)
    if missing:
        raise Conflict(f"This person is not {', '.join(missing)} (any more).", code="role_not_held")
    if Role.ADMIN in roles:
        refuse_last_admin(site, member)
    return [events.RoleRevoked(person_id=member.id, site_id=site.site_id, role=role.value) for role in sorted(roles)]


def decide_deactivation(*, person_id: UUID, is_active: bool, left_without_admin: Sequence[str]) -> list[Payload]:
    """Switch somebody off everywhere."""
    if not is_active:
        raise Conflict("This person is not active already.", code="person_inactive")
    if left_without_admin:
        raise Conflict(f"These sites would have no admin: {', '.join(left_without_admin)}.", code="last_admin")
    return [events.PersonDeactivated(person_id=person_id)]


def decide_reactivation(*, person_id: UUID, is_active: bool) -> list[Payload]:
    """Let somebody act again."""
    if is_active:
        raise Conflict("This person is active already.", code="person_active")
    return [events.PersonReactivated(person_id=person_id)]


def decide_acceptance(
    *,
    invitation_id: UUID,
    invited_email: str,
    invited_roles: Collection[Role],
    invited_by: UUID | None,
    site: SiteRoles,
    member: Member,
    grant_ids: Sequence[UUID],
    now: datetime,
) -> list[Payload]:
    """Turn an open invitation into roles of the person who accepts it. Roles held already stay as they are."""
    if member.email != invited_email:
        raise Conflict("This invitation is for another address. Sign out, then open the link again.", code="other_address")
    if not member.is_active:
        raise NotFound("There is nothing here.")
    if invited_by is not None and invited_by not in site.admins:
        raise Conflict(INVITER_GONE, code="inviter_gone")
    facts: list[Payload] = [
        events.InvitationAccepted(invitation_id=invitation_id, person_id=member.id, accepted_at=now),
    ]
    for grant_id, role in zip(grant_ids, sorted(set(invited_roles) - member.roles), strict=False):
        facts += decide_grant(site, member, role, granted_by=invited_by, grant_id=grant_id, now=now)
    return facts


def expiry(days: int, most: int, now: datetime) -> datetime:
    """When a credential made now for so many days ends. Raises Invalid."""
    if not 1 <= days <= most:
        raise Invalid("The number of days is wrong.", fields={"days": [f"Give a whole number from 1 to {most}."]})
    return now + timedelta(days=days)


def decide_token(
    *,
    token_id: UUID,
    person_id: UUID,
    site_id: UUID,
    role: Role,
    held: frozenset[Role],
    live_tokens: int,
    name: str,
    days: int,
    secret: Secret,
    now: datetime,
) -> events.ApiTokenCreated:
    """Make a token that reaches no further than the person does."""
    if not held:
        raise NotFound("There is nothing here.")
    if not narrowed(role, held):
        raise NotAllowed(f"You are not {role.label} at this site, so a token cannot be.", code="role_not_held")
    expires_at = expiry(days, TOKEN_DAYS_MOST, now)
    if live_tokens >= TOKENS_MOST:
        raise Conflict(f"There are {TOKENS_MOST} tokens already. Revoke one first.", code="too_many_tokens")
    return events.ApiTokenCreated(
        token_id=token_id,
        person_id=person_id,
        site_id=site_id,
        role=role.value,
        name=name,
        prefix=secret.prefix,
        digest=secret.digest.hex(),
        created_at=now,
        expires_at=expires_at,
    )


def decide_machine(
    *,
    credential_id: UUID,
    site_id: UUID,
    name: str,
    name_is_free: bool,
    subjects: Sequence[str],
    days: int,
    created_by: UUID | None,
    secret: Secret,
    now: datetime,
) -> events.MachineCredentialCreated:
    """Make a credential for one bridge or worker."""
    expires_at = expiry(days, MACHINE_DAYS_MOST, now)
    if not name_is_free:
        raise Conflict("A machine of this name has a credential already. Revoke it first.", code="name_taken")
    return events.MachineCredentialCreated(
        credential_id=credential_id,
        site_id=site_id,
        name=name,
        subjects=list(subjects),
        prefix=secret.prefix,
        digest=secret.digest.hex(),
        created_by=created_by,
        created_at=now,
        expires_at=expires_at,
    )
