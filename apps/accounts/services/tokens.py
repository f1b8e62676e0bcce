"""Personal tokens for the API."""

from uuid import UUID

from apps.accounts import events, projections
from apps.accounts.lifecycle import decide_token
from apps.accounts.models import ApiToken, Person
from apps.accounts.selectors import roles_of
from apps.accounts.services.sites import authorise, clean_name
from apps.accounts.types import TOKEN_DAYS, USE_NOTED_EVERY, NewSecret, Secret, SecretKind, VerifiedToken
from apps.journal.services import operation
from apps.kernel import clock
from apps.kernel.errors import Conflict, NotFound
from apps.kernel.ids import new_id
from apps.kernel.types import Actor, Role, SubjectRef


def create_token(
    *,
    actor: Actor,
    person_id: UUID,
    site_id: UUID,
    role: Role,
    name: str,
    days: int = TOKEN_DAYS,
    idempotency_key: str | None = None,
) -> NewSecret:
    """Make a token that acts as the person, in one role they hold at one site, for some days.

    A repeated request answers without the secret: it is shown once. Raises Invalid, NotAllowed, NotFound, Conflict.
    """
    name = clean_name(name)
    request = {"person_id": person_id, "site_id": site_id, "role": role, "name": name, "days": days}
    with operation(actor, "accounts.create_token", key=idempotency_key, request=request) as act:
        authorise(actor, "accounts.manage_own_tokens", SubjectRef("person", person_id, owner_id=person_id))
        if act.is_replay:
            row = ApiToken.objects.get(id=act.replayed["token_id"])
            return NewSecret(row.id, row.name, row.expires_at, None)
        person = Person.objects.select_for_update(no_key=True).filter(id=person_id, is_active=True).first()
        if person is None:
            raise NotFound("There is nothing here.")
        secret, now = Secret.new(SecretKind.TOKEN), clock.now()
        fact = decide_token(
            token_id=new_id(),
            person_id=person.id,
            site_id=site_id,
            role=role,
            held=roles_of(person.id).get(site_id, frozenset()),
            live_tokens=ApiToken.objects.filter(person=person, revoked_at=None, expires_at__gt=now).count(),
            name=name,
            days=days,
            secret=secret,
            now=now,
        )
        act.append(events.site_stream(site_id), [fact], site_id=site_id)
        projections.apply_payloads([fact])
        act.done({"token_id": str(fact.token_id)})
        return NewSecret(fact.token_id, name, fact.expires_at, secret.text)


def revoke_token(*, actor: Actor, token_id: UUID, idempotency_key: str | None = None) -> ApiToken:
    """End a token of one's own. Raises NotFound, Conflict when revoked before."""
    with operation(actor, "accounts.revoke_token", key=idempotency_key, request={"token_id": token_id}) as act:
        row = ApiToken.objects.select_for_update(no_key=True).filter(id=token_id).first()
        if row is None:
            raise NotFound("There is nothing here.")
        authorise(actor, "accounts.revoke_own_tokens", SubjectRef("token", row.id, owner_id=row.person_id))
        if act.is_replay:
            return row
        if row.revoked_at is not None:
            raise Conflict("This token was revoked already.", code="revoked")
        fact = events.ApiTokenRevoked(token_id=row.id, revoked_at=clock.now())
        act.append(events.site_stream(row.site_id), [fact], site_id=row.site_id)
        projections.apply_payloads([fact])
        act.done({})
        row.revoked_at = fact.revoked_at
        return row


def note_token_use(token: VerifiedToken) -> None:
    """Keep when a token was last used, to the minute: a busy program must not cost a write a request."""
    now = clock.now()
    if token.last_used_at is None or now - token.last_used_at >= USE_NOTED_EVERY:
        projections.note_token_use(token.token_id, now)
