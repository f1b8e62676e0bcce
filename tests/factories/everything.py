"""One factory for each model of `apps`, so that rights can be tried on every kind of object.

A model without a factory here fails the outsider test: add one line when adding a model.
"""

import tempfile
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

from django.db.models import Model

from apps.accounts.models import ApiToken, Invitation, MachineCredential, Person, Preferences, RoleGrant, SignInBudget, Site
from apps.accounts.types import Secret, SecretKind
from apps.fleet.models import GatewayNode
from apps.journal import services as journal
from apps.journal.models import (
    Checkpoint,
    Cursor,
    Event,
    IdempotencyKey,
    Stream,
    TailEntry,
    TailState,
    Verification,
)
from apps.kernel import clock
from apps.kernel.ids import new_id
from apps.kernel.types import Role, system_actor
from tests.factories import safety
from tests.factories.fleet import bridge_row, cursor_row, episode_row, order_row, report_row, robot_row
from tests.factories.telemetry import make_block, make_layout

Factory = Callable[[Site, Person, str], Model]
HOUR = timedelta(hours=1)


def _secret(kind: SecretKind) -> dict[str, Any]:
    secret = Secret.new(kind)
    return {"prefix": secret.prefix, "digest": secret.digest}


def make_token(site: Site, person: Person, name: str = "script", role: Role = Role.VIEWER) -> ApiToken:
    """A token that holds."""
    now = clock.now()
    return ApiToken.objects.create(
        person=person, site=site, role=role, name=name, created_at=now, expires_at=now + HOUR, **_secret(SecretKind.TOKEN)
    )


def make_machine(site: Site, _person: Person, name: str = "bridge") -> MachineCredential:
    """A machine credential that holds."""
    now = clock.now()
    return MachineCredential.objects.create(
        site=site, name=name, subjects=["robot:one"], created_at=now, expires_at=now + HOUR, **_secret(SecretKind.MACHINE)
    )


def make_invitation(site: Site, _person: Person, name: str = "Newcomer") -> Invitation:
    """An invitation that is still open."""
    now, email = clock.now(), f"{name.lower().replace(' ', '.')}@example.test"
    secret = _secret(SecretKind.INVITATION)
    return Invitation.objects.create(
        site=site, email=email, name=name, roles=[Role.VIEWER], invited_at=now, expires_at=now + HOUR, **secret
    )


def make_event(site: Site, _person: Person, name: str = "canary") -> Event:
    """A fact of the site that names `name`."""
    from apps.accounts.events import SiteSettingsChanged, site_stream

    fact = SiteSettingsChanged(site_id=site.id, name=name, time_zone="UTC", version=2)
    with journal.operation(system_actor("tests"), "tests") as unit:
        recorded = unit.append(site_stream(site.id), [fact], site_id=site.id)
    return Event.objects.get(id=recorded[0].id)


def _stream(site: Site, person: Person, name: str) -> Stream:
    return Stream.objects.get(name=make_event(site, person, name).stream)


def _checkpoint(site: Site, person: Person, name: str) -> Checkpoint:
    make_event(site, person, name)
    with tempfile.TemporaryDirectory() as folder:
        journal.catch_up(seal=journal.SealFolder(Path(folder)))
    return Checkpoint.objects.latest("size")


def _verification(*_: object) -> Verification:
    now = clock.now()
    return Verification.objects.create(started_at=now, ended_at=now, events=1, sealed=1, is_seal_checked=True)


def _cursor(_site: Site, _person: Person, name: str) -> Cursor:
    return Cursor.objects.get_or_create(name=name, defaults={"moved_at": clock.now()})[0]


def _tail_entry(site: Site, person: Person, name: str) -> TailEntry:
    made = make_event(site, person, name)
    journal.catch_up()
    return TailEntry.objects.get(position=made.position)


def _grant(site: Site, person: Person, _name: str) -> RoleGrant:
    values = {"granted_at": clock.now()}
    return RoleGrant.objects.get_or_create(person=person, site=site, role=Role.VIEWER, defaults=values)[0]


def _idempotency_key(_site: Site, person: Person, name: str) -> IdempotencyKey:
    return IdempotencyKey.objects.create(
        actor=f"person:{person.id}", verb="tests", key=f"{name}-{new_id()}", request=b"", created_at=clock.now()
    )


def _budget(_site: Site, person: Person, _name: str) -> SignInBudget:
    return SignInBudget.objects.get_or_create(key=person.id.bytes * 2, defaults={"counted_at": clock.now()})[0]


FACTORIES: dict[str, Factory] = {
    "accounts.ApiToken": make_token,
    "accounts.Invitation": make_invitation,
    "accounts.MachineCredential": make_machine,
    "accounts.Person": lambda _site, person, _name: person,
    "accounts.Preferences": lambda _site, person, _name: Preferences.objects.get_or_create(person=person)[0],
    "accounts.RoleGrant": _grant,
    "accounts.SignInBudget": _budget,
    "accounts.Site": lambda site, _person, _name: site,
    "alarms.Alarm": safety.make_alarm,
    "alarms.AlarmSubject": safety.make_alarm_subject,
    "alarms.Call": safety.make_call,
    "control.Stop": safety.make_stop,
    "control.StopPolicy": safety.make_policy,
    "control.StopSubject": safety.make_stop_subject,
    "fleet.BootCursor": lambda site, _person, name: cursor_row(site, name),
    "fleet.Bridge": lambda site, _person, name: bridge_row(site, name),
    "fleet.Episode": lambda site, _person, name: episode_row(site, name),
    "fleet.GatewayNode": lambda _site, _person, name: GatewayNode.objects.get_or_create(
        name=name, defaults={"seen_at": clock.now()}
    )[0],
    "fleet.Order": lambda site, _person, name: order_row(site, name),
    "fleet.Robot": lambda site, _person, name: robot_row(site, name),
    "fleet.RobotReport": lambda site, _person, name: report_row(site, name),
    "journal.Checkpoint": _checkpoint,
    "journal.Cursor": _cursor,
    "journal.Event": make_event,
    "journal.IdempotencyKey": _idempotency_key,
    "journal.Stream": _stream,
    "telemetry.Block": lambda site, person, name: make_block(make_layout(site, person, name)),
    "telemetry.Layout": make_layout,
    "journal.TailEntry": _tail_entry,
    "journal.TailState": lambda *_: TailState.objects.get_or_create(defaults={"caught_up_at": clock.now()})[0],
    "journal.Verification": _verification,
}


def one_of_each(site: Site, person: Person, name: str = "") -> dict[str, Model]:
    """One object of each model at a site, for its member `person`, by model label. `name` marks what shows a name."""
    name = name or f"canary {site.slug}"
    return {label: make(site, person, name) for label, make in FACTORIES.items()}


def make_session(person: Person) -> Model:
    """A browser in which the person is signed in, as the sessions page lists it."""
    from allauth.usersessions.models import UserSession
    from django.test import Client

    client = Client()
    client.force_login(person)
    key = client.session.session_key
    return UserSession.objects.get_or_create(session_key=key, defaults={"user": person, "ip": "127.0.0.1", "user_agent": "t"})[
        0
    ]


def make_passkey(person: Person) -> Model:
    """A passkey that nobody holds."""
    from allauth.mfa.models import Authenticator

    return Authenticator.objects.create(user=person, type="webauthn", data={"name": "key", "credential": {}})
