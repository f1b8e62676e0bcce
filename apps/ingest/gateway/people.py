"""Who opens a page's socket: a person signed in at a page of ours. Every gate here is asked before anything is accepted."""

import logging
from dataclasses import dataclass
from uuid import UUID

from django.conf import settings
from django.http import parse_cookie

from apps.accounts.selectors import Standing, find_person, sessions_in_force, standing_of
from apps.ingest.gateway.asgi import Scope
from apps.kernel import origins

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Admitted:
    """A person whose session holds."""

    session_key: str
    person_id: UUID
    name: str
    standing: Standing


def fault_of(scope: Scope) -> str | None:
    """Why this is no page of ours, else None. Reasons quote nothing that was sent."""
    if not _origin_is_ours(scope):
        return "the origin is not ours"
    if not _host_is_ours(scope):
        return "the host is not ours"
    if _may_carry_token(scope):
        return "a page signs in by its session alone"
    return None


def session_key(scope: Scope) -> str:
    """The session that the request names; empty for none."""
    cookies = parse_cookie(origins.only(scope, b"cookie").decode("latin-1"))
    return str(cookies.get(settings.SESSION_COOKIE_NAME, ""))[:100]


def admit(key: str) -> Admitted | None:
    """Whose session this is and what they may count on, or None when it does not hold. Asks the database."""
    person_id = sessions_in_force([key]).get(key)
    if person_id is None:
        return None
    standing = standing_of([(key, person_id)]).get(key)
    person = find_person(person_id)
    if standing is None or person is None:
        return None
    return Admitted(key, person_id, person.name, standing)


def _origin_is_ours(scope: Scope) -> bool:
    return origins.origin_is_ours(scope)


def _host_is_ours(scope: Scope) -> bool:
    return origins.host_is_ours(scope)


def _may_carry_token(scope: Scope) -> bool:
    return origins.may_carry_token(scope)
