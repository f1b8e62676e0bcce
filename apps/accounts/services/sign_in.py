"""Passwords, second factors and sessions of a person: what changes them leaves a fact.

The rows themselves belong to the sign-in library and are no projection: a hash or a key in the journal could be guessed at
for ever. Callers that let the library change its rows hold a transaction open around both.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from allauth.usersessions.models import UserSession
from django.contrib.sessions.models import Session
from django.db import transaction
from django.db.models import Exists, OuterRef

from apps.accounts.events import (
    PasswordChanged,
    RecoveryCodesMade,
    SecondFactorAdded,
    SecondFactorRemoved,
    SessionsEnded,
    person_stream,
)
from apps.accounts.models import Person, SignInBudget
from apps.accounts.services.budgets import BY_ACCOUNT
from apps.journal.services import operation
from apps.kernel import clock
from apps.kernel.errors import NotFound
from apps.kernel.permissions import require
from apps.kernel.types import Actor

OWN = "accounts.manage_own_sign_in"
STAFF = "accounts.manage_sign_in"


@dataclass(frozen=True)
class _SignInOf:
    """The sign-in of one person, as a subject of `can`."""

    owner_id: UUID


def _authorise(actor: Actor, person: Person) -> None:
    """The person themselves, or staff with a second factor."""
    if actor.is_staff and actor.id != person.id:
        require(actor, STAFF)
    else:
        require(actor, OWN, _SignInOf(person.id))


def set_password(actor: Actor, person: Person, password: str, *, keep_session: str | None = None) -> None:
    """Give a new password, end every other session, and let a new browser try again even while strangers guess."""
    _authorise(actor, person)
    with operation(actor, "accounts.set_password") as unit:
        person.set_password(password)
        person.save(update_fields=["password"])
        ended = _drop_sessions(_keys_of(person, keep=keep_session))
        SignInBudget.objects.filter(key=BY_ACCOUNT.key(person.email.lower())).delete()
        unit.append(person_stream(person.id), [PasswordChanged(person_id=person.id, sessions_ended=ended)])


def end_sessions(actor: Actor, person: Person, *, keys: Sequence[str] | None = None, keep: str | None = None) -> int:
    """End the sessions of a person with these keys (all of them for None) but one. Returns how many ended.

    Keys of other people's sessions are passed over.
    """
    _authorise(actor, person)
    with operation(actor, "accounts.end_sessions") as unit:
        mine = _keys_of(person, keep=keep)
        ended = _drop_sessions(mine if keys is None else [key for key in mine if key in set(keys)])
        if ended:
            unit.append(person_stream(person.id), [SessionsEnded(person_id=person.id, count=ended)])
    return ended


def end_session(actor: Actor, person: Person, number: str) -> None:
    """End one session of the person by its number on the page. Raises NotFound for a number that is not theirs."""
    short = number.isascii() and number.isdigit() and len(number) < 19
    row = UserSession.objects.filter(user=person, pk=int(number)).first() if short else None
    if row is None:
        raise NotFound("There is no such session.")
    end_sessions(actor, person, keys=[row.session_key])


def note_session(person: Person, key: str, *, address: str, browser: str) -> None:
    """Keep when a session was last seen; list one that is new. One that ended meanwhile stays ended."""
    now = clock.now()
    if UserSession.objects.filter(session_key=key, user=person).update(last_seen_at=now):
        return
    if Session.objects.filter(pk=key).exists():
        longest = UserSession._meta.get_field("user_agent").max_length
        values = {"user": person, "ip": address, "user_agent": browser[:longest], "last_seen_at": now}
        UserSession.objects.update_or_create(session_key=key, defaults=values)


def _keys_of(person: Person, *, keep: str | None) -> list[str]:
    keys = UserSession.objects.filter(user=person).values_list("session_key", flat=True)
    return [key for key in keys if key != keep]


def _drop_sessions(keys: Sequence[str]) -> int:
    ended = Session.objects.filter(pk__in=keys).delete()[0]
    UserSession.objects.filter(session_key__in=keys).delete()
    return ended


def record_factor_added(actor: Actor, person: Person, kind: str, *, keep_session: str | None) -> None:
    """A code generator or passkey was added, in the caller's transaction. Sessions that never saw it end."""
    _authorise(actor, person)
    with operation(actor, "accounts.add_second_factor") as unit:
        ended = _drop_sessions(_keys_of(person, keep=keep_session))
        unit.append(person_stream(person.id), [SecondFactorAdded(person_id=person.id, kind=kind, sessions_ended=ended)])


def record_factor_removed(actor: Actor, person: Person, kind: str) -> None:
    """A code generator or passkey was removed, in the caller's transaction."""
    _authorise(actor, person)
    with operation(actor, "accounts.remove_second_factor") as unit:
        unit.append(person_stream(person.id), [SecondFactorRemoved(person_id=person.id, kind=kind)])


def record_recovery_codes(actor: Actor, person: Person) -> None:
    """New recovery codes replaced the old ones, in the caller's transaction."""
    _authorise(actor, person)
    with operation(actor, "accounts.make_recovery_codes") as unit:
        unit.append(person_stream(person.id), [RecoveryCodesMade(person_id=person.id)])


def remove_second_factors(actor: Actor, person: Person) -> int:
    """Staff take every code generator, passkey and recovery code from somebody who lost them. Returns how many went."""
    require(actor, STAFF)
    with transaction.atomic():
        rows = list(person.authenticator_set.select_for_update())  # type: ignore[attr-defined]
        for row in rows:
            row.delete()
            record_factor_removed(actor, person, str(row.type))
        if rows:
            end_sessions(actor, person)
    return len(rows)


def forget_expired_sessions() -> int:
    """Drop sessions that ran out, and the lines about sessions that are gone. Returns how many ran out.

    What ran out no longer held, so nothing ends here and no fact is left.
    """
    ended = Session.objects.filter(expire_date__lt=clock.now()).delete()[0]
    live = Session.objects.filter(pk=OuterRef("session_key"))
    UserSession.objects.filter(~Exists(live)).delete()
    return ended
