"""Credentials of machines: bridges and workers."""

from collections.abc import Sequence
from uuid import UUID

from apps.accounts import events, projections
from apps.accounts.lifecycle import decide_machine
from apps.accounts.models import MachineCredential
from apps.accounts.services.sites import authorise, clean_name, lock_site
from apps.accounts.types import MACHINE_DAYS, SUBJECTS_MOST, USE_NOTED_EVERY, NewSecret, Secret, SecretKind, VerifiedMachine
from apps.journal.services import operation
from apps.kernel import clock
from apps.kernel.errors import Conflict, Invalid, NotFound
from apps.kernel.ids import new_id, parse_id
from apps.kernel.types import Actor, ActorKind


def create_machine_credential(
    *,
    actor: Actor,
    site_id: UUID,
    name: str,
    subjects: Sequence[str] = (),
    days: int = MACHINE_DAYS,
    idempotency_key: str | None = None,
) -> NewSecret:
    """Make what one machine signs in with, bound to its name and to the subjects (`kind:id`) it may speak for.

    A repeated request answers without the secret: it is shown once. Raises Invalid, Conflict for a name in use.
    """
    name, subjects = clean_name(name), clean_subjects(subjects)
    request = {"site_id": site_id, "name": name, "subjects": subjects, "days": days}
    with operation(actor, "accounts.create_machine_credential", key=idempotency_key, request=request) as act:
        site = lock_site(site_id)
        authorise(actor, "accounts.manage_machines", site)
        if act.is_replay:
            row = MachineCredential.objects.get(id=act.replayed["credential_id"])
            return NewSecret(row.id, row.name, row.expires_at, None)
        secret = Secret.new(SecretKind.MACHINE)
        fact = decide_machine(
            credential_id=new_id(),
            site_id=site.id,
            name=name,
            name_is_free=not MachineCredential.objects.filter(site=site, name=name, revoked_at=None).exists(),
            subjects=subjects,
            days=days,
            created_by=actor.id if actor.kind is ActorKind.PERSON else None,
            secret=secret,
            now=clock.now(),
        )
        act.append(events.site_stream(site.id), [fact], site_id=site.id)
        projections.apply_payloads([fact])
        act.done({"credential_id": str(fact.credential_id)})
        return NewSecret(fact.credential_id, name, fact.expires_at, secret.text)


def revoke_machine_credential(
    *, actor: Actor, site_id: UUID, credential_id: UUID, idempotency_key: str | None = None
) -> MachineCredential:
    """End a machine's access; its open sockets close within a second. Raises NotFound, Conflict when revoked before."""
    request = {"site_id": site_id, "credential_id": credential_id}
    with operation(actor, "accounts.revoke_machine_credential", key=idempotency_key, request=request) as act:
        site = lock_site(site_id)
        authorise(actor, "accounts.revoke_machines", site)
        row = MachineCredential.objects.filter(id=credential_id, site=site).first()
        if row is None:
            raise NotFound("There is nothing here.")
        if act.is_replay:
            return row
        if row.revoked_at is not None:
            raise Conflict("This credential was revoked already.", code="revoked")
        fact = events.MachineCredentialRevoked(credential_id=row.id, revoked_at=clock.now())
        act.append(events.site_stream(site.id), [fact], site_id=site.id)
        projections.apply_payloads([fact])
        act.done({})
        row.revoked_at = fact.revoked_at
        return row


def note_machine_use(machine: VerifiedMachine) -> None:
    """Keep when a machine last signed in, to the minute."""
    now = clock.now()
    if machine.last_used_at is None or now - machine.last_used_at >= USE_NOTED_EVERY:
        projections.note_machine_use(machine.credential_id, now)


def clean_subjects(subjects: Sequence[str]) -> list[str]:
    """Subjects in one spelling and order, each once. Raises Invalid."""
    found = sorted({text.strip() for text in subjects if text.strip()})
    for text in found:
        kind, _, subject_id = text.partition(":")
        if not (kind.isascii() and kind.isidentifier() and kind.islower() and parse_id(subject_id)):
            raise Invalid("A subject is wrong.", fields={"subjects": ["Give each as kind:id, for instance robot: and a UUID."]})
    if len(found) > SUBJECTS_MOST:
        raise Invalid("Too many subjects.", fields={"subjects": [f"Give at most {SUBJECTS_MOST}."]})
    return found
