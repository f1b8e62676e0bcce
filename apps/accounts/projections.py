"""The only writer of the tables of accounts. Applying events in the order of their positions gives the tables, from empty too.

Applying an event twice leaves the same row. Passwords, last sign-in and last use are outside: they are no facts.
"""

from collections.abc import Callable, Iterable
from datetime import datetime
from typing import Any, TypeVar, cast
from uuid import UUID

from django.contrib.auth.hashers import make_password

from apps.accounts import events
from apps.accounts.models import ApiToken, Invitation, MachineCredential, Person, Preferences, RoleGrant, Site
from apps.journal.events import decode
from apps.journal.types import Payload, Recorded

Event = TypeVar("Event", bound=Payload)
# Every table that follows from facts, with the columns that do not.
TABLES: dict[str, tuple[str, ...]] = {
    "accounts_site": (),
    "accounts_person": ("password", "last_login"),
    "accounts_role_grant": (),
    "accounts_invitation": (),
    "accounts_preferences": (),
    "accounts_api_token": ("last_used_at",),
    "accounts_machine_credential": ("last_used_at",),
}
_APPLIERS: dict[type[Payload], Callable[[Any], None]] = {}


def _on(kind: type[Event]) -> Callable[[Callable[[Event], None]], Callable[[Event], None]]:
    def keep(apply_one: Callable[[Event], None]) -> Callable[[Event], None]:
        _APPLIERS[kind] = apply_one
        return apply_one

    return keep


def apply_payloads(payloads: Iterable[Payload]) -> None:
    """Project facts that were just appended, in the same transaction."""
    for payload in payloads:
        _APPLIERS[type(payload)](payload)


def apply_recorded(recorded: Recorded) -> bool:
    """Project one stored event, for a rebuild; False when it is none of ours."""
    if not recorded.type.startswith("accounts."):
        return False
    payload = decode(recorded.type, recorded.version, cast("dict[str, Any]", recorded.payload))
    applier = _APPLIERS.get(type(payload))
    if applier is None:
        return False
    applier(payload)
    return True


def note_token_use(token_id: UUID, at: datetime) -> None:
    """When a token was last used: worth knowing, but no fact."""
    ApiToken.objects.filter(id=token_id).update(last_used_at=at)


def note_machine_use(credential_id: UUID, at: datetime) -> None:
    """When a machine last signed in."""
    MachineCredential.objects.filter(id=credential_id).update(last_used_at=at)


@_on(events.SiteCreated)
def _site_created(fact: events.SiteCreated) -> None:
    values = {
        "slug": fact.slug,
        "name": fact.name,
        "time_zone": fact.time_zone,
        "is_simulated": fact.is_simulated,
        "version": 1,
        "created_at": fact.created_at,
    }
    Site.objects.update_or_create(id=fact.site_id, defaults=values)


@_on(events.SiteSettingsChanged)
def _site_settings_changed(fact: events.SiteSettingsChanged) -> None:
    Site.objects.filter(id=fact.site_id).update(name=fact.name, time_zone=fact.time_zone, version=fact.version)


@_on(events.PersonCreated)
def _person_created(fact: events.PersonCreated) -> None:
    values = {
        "email": fact.email,
        "name": fact.name,
        "is_scripted": fact.is_scripted,
        "is_staff": fact.is_staff,
        "is_superuser": fact.is_staff,
        "is_active": True,
        "created_at": fact.created_at,
    }
    # The row is made with a password nobody can give, and keeps the one it has.
    Person.objects.update_or_create(
        id=fact.person_id,
        defaults=values,
        create_defaults={**values, "password": make_password(None)},
    )


@_on(events.PersonDeactivated)
def _person_deactivated(fact: events.PersonDeactivated) -> None:
    Person.objects.filter(id=fact.person_id).update(is_active=False)


@_on(events.PersonReactivated)
def _person_reactivated(fact: events.PersonReactivated) -> None:
    Person.objects.filter(id=fact.person_id).update(is_active=True)


@_on(events.PersonInvited)
def _person_invited(fact: events.PersonInvited) -> None:
    values = {
        "site_id": fact.site_id,
        "email": fact.email,
        "name": fact.name,
        "roles": fact.roles,
        "prefix": fact.prefix,
        "digest": bytes.fromhex(fact.digest),
        "invited_by": fact.invited_by,
        "invited_at": fact.invited_at,
        "expires_at": fact.expires_at,
    }
    Invitation.objects.update_or_create(id=fact.invitation_id, defaults=values)


@_on(events.InvitationAccepted)
def _invitation_accepted(fact: events.InvitationAccepted) -> None:
    Invitation.objects.filter(id=fact.invitation_id).update(accepted_at=fact.accepted_at, accepted_by=fact.person_id)


@_on(events.InvitationRevoked)
def _invitation_revoked(fact: events.InvitationRevoked) -> None:
    Invitation.objects.filter(id=fact.invitation_id).update(revoked_at=fact.revoked_at)


@_on(events.RoleGranted)
def _role_granted(fact: events.RoleGranted) -> None:
    values = {"id": fact.grant_id, "granted_at": fact.granted_at, "granted_by": fact.granted_by}
    RoleGrant.objects.get_or_create(person_id=fact.person_id, site_id=fact.site_id, role=fact.role, defaults=values)


@_on(events.RoleRevoked)
def _role_revoked(fact: events.RoleRevoked) -> None:
    RoleGrant.objects.filter(person_id=fact.person_id, site_id=fact.site_id, role=fact.role).delete()


@_on(events.PreferencesChanged)
def _preferences_changed(fact: events.PreferencesChanged) -> None:
    values = {"theme": fact.theme, "density": fact.density, "single_keys": fact.single_keys}
    Preferences.objects.update_or_create(person_id=fact.person_id, defaults=values)


def preferences_statement(fact: events.PreferencesChanged) -> tuple[str, list[Any]]:
    """The same as one statement, for an append in one round trip."""
    statement = """
        INSERT INTO accounts_preferences (person_id, theme, density, single_keys) VALUES (%s, %s, %s, %s)
        ON CONFLICT (person_id) DO UPDATE
        SET theme = excluded.theme, density = excluded.density, single_keys = excluded.single_keys
    """
    return statement, [fact.person_id, fact.theme, fact.density, fact.single_keys]


@_on(events.MachineCredentialCreated)
def _machine_created(fact: events.MachineCredentialCreated) -> None:
    values = {
        "site_id": fact.site_id,
        "name": fact.name,
        "subjects": fact.subjects,
        "prefix": fact.prefix,
        "digest": bytes.fromhex(fact.digest),
        "created_by": fact.created_by,
        "created_at": fact.created_at,
        "expires_at": fact.expires_at,
    }
    MachineCredential.objects.update_or_create(id=fact.credential_id, defaults=values)


@_on(events.MachineCredentialRevoked)
def _machine_revoked(fact: events.MachineCredentialRevoked) -> None:
    MachineCredential.objects.filter(id=fact.credential_id).update(revoked_at=fact.revoked_at)


@_on(events.ApiTokenCreated)
def _token_created(fact: events.ApiTokenCreated) -> None:
    values = {
        "person_id": fact.person_id,
        "site_id": fact.site_id,
        "role": fact.role,
        "name": fact.name,
        "prefix": fact.prefix,
        "digest": bytes.fromhex(fact.digest),
        "created_at": fact.created_at,
        "expires_at": fact.expires_at,
    }
    ApiToken.objects.update_or_create(id=fact.token_id, defaults=values)


@_on(events.ApiTokenRevoked)
def _token_revoked(fact: events.ApiTokenRevoked) -> None:
    ApiToken.objects.filter(id=fact.token_id).update(revoked_at=fact.revoked_at)
