"""Two sites that know nothing of each other, the whole cast with its clients, and one of everything at each site."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from http.cookies import SimpleCookie
from typing import Any

from django.core.cache import cache
from django.db import connection, transaction
from django.http import HttpResponse
from django.test import Client

from apps.accounts.models import ApiToken, MachineCredential, Person, Site
from apps.accounts.types import Secret, SecretKind
from apps.kernel import clock
from apps.kernel.types import Role
from tests.factories.accounts import client_of, grant, make_people, make_person, make_site
from tests.factories.everything import one_of_each
from tests.integration.access.table import ROLES, Caller

HOUR = timedelta(hours=1)
# Written by the session machinery on any request, refused ones too; no fact and nobody's right hangs on them.
NOT_FACTS = (
    "django_session",
    "usersessions_usersession",
    "accounts_sign_in_budget",
    "accounts_api_token",
    "accounts_machine_credential",
)


@dataclass
class Member:
    """One of the cast: who they are for the table, and how they call."""

    caller: Caller
    person: Person | None
    client: Client
    headers: dict[str, str] = field(default_factory=dict)
    cookies: str = ""

    def __post_init__(self) -> None:
        self.client.raise_request_exception = False
        session = self.client.session
        for proof in session.get("account_authentication_methods", []):
            proof["at"] += 3600 if proof.get("at", 0) > clock.now().timestamp() - 60 else 0  # a slow run must not age it
            proof["reauthenticated"] = True  # the sign-in library asks for this beside the time
            session.modified = True
        if session.modified:
            session.save()
        self.cookies = self.client.cookies.output(header="", sep=";")


@dataclass
class Place:
    """A site and one of everything there: object by URL argument, for this site."""

    site: Site
    person: Person
    objects: Mapping[str, Any]


@dataclass
class World:
    """Everything a call of the matrix needs."""

    here: Place
    there: Place
    cast: dict[str, Member]

    def call(
        self, member: Member, method: str, address: str | Callable[[], str], *, look: Callable[[], object] = bool, **extra: Any
    ) -> "Called":
        """Call, look at what was written, then undo it all, so that every call meets the same world. `look` runs before that.

        An `address` that is made by a function may make the object it names; that is undone too.
        """
        cache.clear()
        member.client.cookies = SimpleCookie(member.cookies)
        with transaction.atomic():
            path = address if isinstance(address, str) else address()
            before = writes()
            response = member.client.generic(
                method,
                path,
                extra.pop("data", b""),
                extra.pop("content_type", "application/json"),
                headers=member.headers,
                **extra,
            )
            written = writes() - before
            look()
            transaction.set_rollback(True)
        return Called(response, written, path)


@dataclass
class Called:
    """An answer, and how many rows the call wrote (facts and projections; not session bookkeeping)."""

    response: HttpResponse
    written: int
    path: str

    @property
    def outcome(self) -> int | str:
        """The status, or where a browser was sent to prove who it is."""
        where = self.response.get("Location", "")
        if self.response.status_code == 302 and where.startswith("/account/login/"):
            return "sign-in"
        if self.response.status_code == 302 and "/reauthenticate/" in where:
            return "re-enter"
        return int(self.response.status_code)


def writes() -> int:
    """Rows written so far in this transaction, counted by PostgreSQL itself."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT coalesce(sum(n_tup_ins + n_tup_upd + n_tup_del), 0) FROM pg_stat_xact_user_tables WHERE relname <> ALL(%s)",
            [list(NOT_FACTS)],
        )
        return int(cursor.fetchone()[0])


def bearer(person: Person, site: Site, role: Role, *, expired: bool = False, revoked: bool = False) -> str:
    """A token of a person as a header."""
    secret, now = Secret.new(SecretKind.TOKEN), clock.now()
    ApiToken.objects.create(
        person=person,
        site=site,
        role=role,
        name=f"token {secret.prefix}",
        prefix=secret.prefix,
        digest=secret.digest,
        created_at=now - 2 * HOUR,
        expires_at=now - HOUR if expired else now + HOUR,
        revoked_at=now if revoked else None,
    )
    return f"Bearer {secret.text}"


def machine(site: Site) -> str:
    """A machine's credential as a header."""
    secret, now = Secret.new(SecretKind.MACHINE), clock.now()
    MachineCredential.objects.create(
        site=site,
        name=f"bridge {secret.prefix}",
        subjects=["robot:arm-1"],
        prefix=secret.prefix,
        digest=secret.digest,
        created_at=now,
        expires_at=now + HOUR,
    )
    return f"Bearer {secret.text}"


def build() -> World:
    """Make it all; about a hundred rows."""
    here_site, there_site = make_site("hall-a", name="Hall A"), make_site("lab-b", name="Lab B")
    people = make_people(here_site)
    outsider = grant(make_person("Outsider"), there_site, *Role)
    here = Place(here_site, people[Role.VIEWER], one_of_each(here_site, people[Role.VIEWER]))
    stranger = grant(make_person("Stranger"), there_site, Role.VIEWER)
    there = Place(there_site, stranger, one_of_each(there_site, stranger))
    cast = [Member(Caller("anonymous", "nobody"), None, Client())]
    for role, person in people.items():
        cast.append(Member(_person(role.value, role, fresh=True), person, client_of(person)))
    admin = people[Role.ADMIN]
    cast.append(Member(_person("admin_long_ago", Role.ADMIN), admin, client_of(admin, proved=False)))
    cast.append(Member(Caller("outsider", "person", anywhere=ROLES, fresh=True), outsider, client_of(outsider)))
    cast.append(Member(Caller("no_role", "person", fresh=True), nobody := make_person("No Role"), client_of(nobody)))
    cast += _staff()
    for role in (Role.VIEWER, Role.ADMIN):
        words = {"Authorization": bearer(people[role], here_site, role)}
        caller = Caller(f"{role.value}_token", "token", frozenset({role.value}), frozenset({role.value}))
        cast.append(Member(caller, people[role], Client(), words))
    for name, options in (("expired_token", {"expired": True}), ("revoked_token", {"revoked": True})):
        words = {"Authorization": bearer(admin, here_site, Role.ADMIN, **options)}
        cast.append(Member(Caller(name, "nobody"), admin, Client(), words))
    cast.append(Member(Caller("machine", "nobody"), None, Client(), {"Authorization": machine(here_site)}))
    cast += _disabled(here_site)
    return World(here, there, {member.caller.name: member for member in cast})


def _person(name: str, role: Role, *, fresh: bool = False) -> Caller:
    return Caller(name, "person", frozenset({role.value}), frozenset({role.value}), fresh=fresh)


def _staff() -> list[Member]:
    """Staff after a second factor, and staff who only gave a password."""
    found = []
    for name, factor in (("staff", True), ("staff_password_only", False)):
        person = make_person(name.replace("_", " ").title())
        Person.objects.filter(id=person.id).update(is_staff=True)
        client = client_of(person)
        if factor:
            session = client.session
            session["account_authentication_methods"] += [{"method": "mfa", "type": "totp", "at": clock.now().timestamp()}]
            session.save()
        found.append(Member(Caller(name, "person", fresh=True, staff=factor), person, client))
    return found


def _disabled(site: Site) -> list[Member]:
    """Somebody who was admin, with a session and a token from then."""
    person = grant(make_person("Disabled"), site, Role.ADMIN)
    client, words = client_of(person), {"Authorization": bearer(person, site, Role.ADMIN)}
    Person.objects.filter(id=person.id).update(is_active=False)
    return [
        Member(Caller("disabled", "nobody"), person, client),
        Member(Caller("disabled_token", "nobody"), person, Client(), words),
    ]
