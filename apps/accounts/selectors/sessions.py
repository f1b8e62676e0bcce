"""Reads of sessions: what a sign-in still stands for."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from allauth.mfa.models import Authenticator
from allauth.usersessions.models import UserSession
from django.contrib.auth import HASH_SESSION_KEY, SESSION_KEY
from django.contrib.sessions.models import Session
from django.utils.crypto import constant_time_compare

from apps.accounts.models import Person
from apps.accounts.selectors.people import roles_of_many
from apps.kernel import clock
from apps.kernel.ids import parse_id
from apps.kernel.types import Role

_FACTORS = frozenset({"totp", "webauthn"})


def _proofs(session: Any) -> list[dict[str, Any]]:
    """What the sign-in library recorded in this session, for the person whose session it is."""
    if session.get("account_authentication_methods_user") != session.get(SESSION_KEY):
        return []
    return [
        proof
        for proof in session.get("account_authentication_methods") or []
        if proof.get("method") == "password" or (proof.get("method") == "mfa" and proof.get("type") in _FACTORS)
    ]


def proved_at_of(session: Any) -> datetime | None:
    """When the person of this session last proved who they are by password, code or passkey.

    A reset link proves nothing, and a recovery code only signs in: it lies on paper, where anybody may find it.
    """
    times = [proof["at"] for proof in _proofs(session)]
    return datetime.fromtimestamp(max(times), UTC) if times else None


def gave_second_factor(session: Any) -> bool:
    """Whether the person of this session gave a code or a passkey in it."""
    return any(proof["method"] == "mfa" for proof in _proofs(session))


@dataclass(frozen=True)
class Standing:
    """What a live session may count on now. Somebody without a standing has none: close the socket."""

    person_id: UUID
    roles: Mapping[UUID, frozenset[Role]]


def sessions_in_force(keys: Iterable[str]) -> dict[str, UUID]:
    """The person of each session that still holds: not ended, not expired, person active, password unchanged.

    Two queries whatever the number of keys. A key that is missing from the answer is no longer in force.
    """
    held = {row.session_key: row.get_decoded() for row in Session.objects.filter(pk__in=set(keys), expire_date__gt=clock.now())}
    asked = (parse_id(data.get(SESSION_KEY, "")) for data in held.values())
    wanted = {person_id for person_id in asked if person_id is not None}
    people = {person.id: person for person in Person.objects.filter(id__in=wanted, is_active=True).only("password")}
    found: dict[str, UUID] = {}
    for key, data in held.items():
        person = people.get(parse_id(data.get(SESSION_KEY, "")))  # type: ignore[arg-type]
        if person is not None and constant_time_compare(data.get(HASH_SESSION_KEY, ""), person.get_session_auth_hash()):
            found[key] = person.id
    return found


def standing_of(sessions: Iterable[tuple[str, UUID]]) -> dict[str, Standing]:
    """The standing of each (session key, person id) pair, by session key; three queries whatever their number.

    A session that ended, or that now belongs to somebody else, is missing from the answer.
    """
    claimed = dict(sessions)
    held = {key: person for key, person in sessions_in_force(claimed).items() if claimed[key] == person}
    roles = roles_of_many(held.values())
    return {key: Standing(person_id, roles.get(person_id, {})) for key, person_id in held.items()}


def has_second_factor(person_id: UUID) -> bool:
    """Whether the person holds a code generator or a passkey. Recovery codes alone are none."""
    return Authenticator.objects.filter(user_id=person_id, type__in=_FACTORS).exists()


@dataclass(frozen=True)
class SignIn:
    """One browser in which a person is signed in, as they see it."""

    id: int
    ip: str
    user_agent: str
    created_at: datetime
    last_seen_at: datetime
    is_current: bool


def sessions_of(person_id: UUID, *, current: str | None = None, most: int = 200) -> list[SignIn]:
    """Browsers in which the person is signed in, last used first. `current` is the key of the caller's own session."""
    live = Session.objects.filter(expire_date__gt=clock.now()).values("pk")
    rows = UserSession.objects.filter(user_id=person_id, session_key__in=live).order_by("-last_seen_at", "-pk")[:most]
    return [
        SignIn(row.pk, row.ip, row.user_agent, row.created_at, row.last_seen_at, row.session_key == current) for row in rows
    ]
