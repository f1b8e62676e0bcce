"""Idempotency keys: what was asked under a key, and what was answered."""

import hashlib
from datetime import timedelta
from typing import Any
from uuid import UUID

import msgspec
from django.db import connection

from apps.journal.lifecycle import encoded
from apps.journal.models import IdempotencyKey
from apps.kernel import clock
from apps.kernel.errors import Conflict, Invalid, NotSignedIn, Unavailable
from apps.kernel.ids import new_id
from apps.kernel.types import Actor

KEY_LENGTH = 100
KEPT_FOR = timedelta(days=30)
_TAKE = """
INSERT INTO journal_idempotency_key (id, actor, verb, key, request, created_at) VALUES (%s, %s, %s, %s, %s, %s)
ON CONFLICT (actor, verb, key) DO NOTHING RETURNING id
"""


def check(key: str, actor: Actor) -> None:
    """Raise a refusal for a key that cannot be used."""
    if not 1 <= len(key) <= KEY_LENGTH or not key.isprintable():
        raise Invalid("The idempotency key is wrong.", fields={"idempotency_key": ["Give 1 to 100 printable characters."]})
    if not actor.is_known:
        # All strangers would share their keys, and so each other's answers.
        raise NotSignedIn("Sign in first.")


def take(actor: Actor, verb: str, key: str, request: object) -> tuple[UUID | None, Any]:
    """Insert the key and return its id, or None and what its first use answered.

    The unique index makes a second caller wait until the first has committed or rolled back.
    """
    who = owner(actor)
    asked = digest_of_request(request)
    for _ in range(2):  # a key may be swept between the two statements, once
        with connection.cursor() as cursor:
            cursor.execute(_TAKE, [new_id(), who, verb, key, asked, clock.now()])
            inserted = cursor.fetchone()
        if inserted is not None:
            return inserted[0], None
        found = IdempotencyKey.objects.filter(actor=who, verb=verb, key=key).first()
        if found is not None:
            if bytes(found.request) != asked:
                raise Conflict("This idempotency key was used for another request.", code="key_reused")
            return None, found.result if found.result is not None else {}
    raise Unavailable("This idempotency key is being forgotten. Try again.")


def owner(actor: Actor) -> str:
    """Whose key it is."""
    return f"{actor.kind}:{actor.id or actor.name}"[:64]


def digest_of_request(request: object) -> bytes:
    """What was asked, as it is compared. Raises Invalid for what cannot be recorded."""
    try:
        return hashlib.sha256(encoded(request)).digest()
    except (UnicodeEncodeError, OverflowError, msgspec.MsgspecError):
        raise Invalid("The request holds text or numbers that cannot be recorded.", fields={"body": ["Unusable."]}) from None


def keep(key_id: UUID, result: dict[str, Any]) -> None:
    """Store the answer of the first use."""
    IdempotencyKey.objects.filter(id=key_id).update(result=result)


def forget_old_keys(*, most: int = 5000) -> int:
    """Delete keys older than thirty days, oldest first, and say how many. Nobody retries for that long."""
    old = IdempotencyKey.objects.filter(created_at__lt=clock.now() - KEPT_FOR).order_by("created_at").values("id")[:most]
    deleted, _ = IdempotencyKey.objects.filter(id__in=old).delete()
    return deleted
