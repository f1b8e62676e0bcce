"""Facts of accounts. What changes rights at a site goes to its stream, tokens too; what is a person's alone to theirs.

Digests of secrets are facts too: 192 random bits cannot be found from them, and without them replay could not
rebuild the tables. Passwords are not: their hashes could be guessed, so they live in the person's row alone.
"""

from datetime import datetime
from uuid import UUID

from apps.journal.events import event
from apps.journal.types import Payload


def site_stream(site_id: UUID) -> str:
    """The stream of one site."""
    return f"accounts.site:{site_id}"


def person_stream(person_id: UUID) -> str:
    """The stream of one person."""
    return f"accounts.person:{person_id}"


@event("accounts.site_created")
class SiteCreated(Payload, frozen=True):
    """A site exists."""

    site_id: UUID
    slug: str
    name: str
    time_zone: str
    is_simulated: bool
    created_at: datetime


@event("accounts.site_settings_changed")
class SiteSettingsChanged(Payload, frozen=True):
    """A site has this name and time zone from now on."""

    site_id: UUID
    name: str
    time_zone: str
    version: int


@event("accounts.person_created")
class PersonCreated(Payload, frozen=True):
    """Somebody can be named as an actor."""

    person_id: UUID
    email: str
    name: str
    is_scripted: bool
    is_staff: bool
    created_at: datetime


@event("accounts.person_deactivated")
class PersonDeactivated(Payload, frozen=True):
    """Nothing of this person's works any more: sign-in, sessions, tokens."""

    person_id: UUID


@event("accounts.person_reactivated")
class PersonReactivated(Payload, frozen=True):
    """The person may sign in again, with the roles they still hold."""

    person_id: UUID


@event("accounts.person_invited")
class PersonInvited(Payload, frozen=True):
    """An address was invited to a site. Says nothing about whether the address is known elsewhere."""

    invitation_id: UUID
    site_id: UUID
    email: str
    name: str
    roles: list[str]
    prefix: str
    digest: str
    invited_by: UUID | None
    invited_at: datetime
    expires_at: datetime


@event("accounts.invitation_accepted")
class InvitationAccepted(Payload, frozen=True):
    """The link was used, by this person."""

    invitation_id: UUID
    person_id: UUID
    accepted_at: datetime


@event("accounts.invitation_revoked")
class InvitationRevoked(Payload, frozen=True):
    """The link no longer works."""

    invitation_id: UUID
    revoked_at: datetime


@event("accounts.role_granted")
class RoleGranted(Payload, frozen=True):
    """The person holds the role at the site from now on."""

    grant_id: UUID
    person_id: UUID
    site_id: UUID
    role: str
    granted_by: UUID | None
    granted_at: datetime


@event("accounts.role_revoked")
class RoleRevoked(Payload, frozen=True):
    """The person no longer holds the role at the site."""

    person_id: UUID
    site_id: UUID
    role: str


@event("accounts.preferences_changed")
class PreferencesChanged(Payload, frozen=True):
    """The console looks and behaves like this for the person."""

    person_id: UUID
    theme: str
    density: str
    single_keys: bool


@event("accounts.machine_credential_created")
class MachineCredentialCreated(Payload, frozen=True):
    """A machine may sign in and speak for these subjects."""

    credential_id: UUID
    site_id: UUID
    name: str
    subjects: list[str]
    prefix: str
    digest: str
    created_by: UUID | None
    created_at: datetime
    expires_at: datetime


@event("accounts.machine_credential_revoked")
class MachineCredentialRevoked(Payload, frozen=True):
    """The machine may no longer sign in; its open sockets close."""

    credential_id: UUID
    revoked_at: datetime


@event("accounts.api_token_created")
class ApiTokenCreated(Payload, frozen=True):
    """A program may act as the person, in one role at one site."""

    token_id: UUID
    person_id: UUID
    site_id: UUID
    role: str
    name: str
    prefix: str
    digest: str
    created_at: datetime
    expires_at: datetime


@event("accounts.api_token_revoked")
class ApiTokenRevoked(Payload, frozen=True):
    """The token no longer works."""

    token_id: UUID
    revoked_at: datetime


@event("accounts.password_changed")
class PasswordChanged(Payload, frozen=True):
    """The person has a new password; their other sessions ended."""

    person_id: UUID
    sessions_ended: int


@event("accounts.second_factor_added")
class SecondFactorAdded(Payload, frozen=True):
    """The person signs in with a code generator (`totp`) or passkey (`webauthn`) too; their other sessions ended."""

    person_id: UUID
    kind: str
    sessions_ended: int


@event("accounts.second_factor_removed")
class SecondFactorRemoved(Payload, frozen=True):
    """A code generator, passkey or set of recovery codes no longer works."""

    person_id: UUID
    kind: str


@event("accounts.recovery_codes_made")
class RecoveryCodesMade(Payload, frozen=True):
    """New recovery codes replaced the old ones."""

    person_id: UUID


@event("accounts.sessions_ended")
class SessionsEnded(Payload, frozen=True):
    """Sessions of the person no longer work; their open sockets close."""

    person_id: UUID
    count: int
