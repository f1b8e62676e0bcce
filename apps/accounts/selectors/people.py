"""Reads of people: their roles, preferences, invitations."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from datetime import datetime
from uuid import UUID

from django.conf import settings
from django.db.models import Prefetch
from django.http import QueryDict
from django.urls import reverse

from apps.accounts.models import ApiToken, Invitation, MachineCredential, Person, Preferences, RoleGrant
from apps.accounts.types import NO_DIGEST, Display, Member, Secret, SecretKind, has_expired, is_revoked
from apps.kernel import clock
from apps.kernel.filters import Listing, Sort
from apps.kernel.pagination import Page
from apps.kernel.types import ANONYMOUS, Actor, ActorKind, Role

_MEMBERS = Listing(sorts={"name": Sort("name")}, default_sort="name")


def roles_of(person_id: UUID) -> dict[UUID, frozenset[Role]]:
    """Roles of one person by site; empty for somebody who is not active."""
    held: dict[UUID, set[Role]] = defaultdict(set)
    rows = RoleGrant.objects.filter(person_id=person_id, person__is_active=True).values_list("site_id", "role")
    for site_id, role in rows:
        held[site_id].add(Role(role))
    return {site_id: frozenset(roles) for site_id, roles in held.items()}


def roles_of_many(person_ids: Iterable[UUID]) -> dict[UUID, dict[UUID, frozenset[Role]]]:
    """Roles by site of each active person, in one query. A person without any role is missing from the answer."""
    held: dict[UUID, dict[UUID, set[Role]]] = defaultdict(lambda: defaultdict(set))
    rows = RoleGrant.objects.filter(person_id__in=set(person_ids), person__is_active=True)
    for person_id, site_id, role in rows.values_list("person_id", "site_id", "role"):
        held[person_id][site_id].add(Role(role))
    return {person_id: {site_id: frozenset(roles) for site_id, roles in sites.items()} for person_id, sites in held.items()}


def actor_of_person(person: Person, *, proved_at: datetime | None = None, second_factor: bool = False) -> Actor:
    """A signed-in person as an actor, with the roles held now. Staff count as staff only after a second factor."""
    if not person.is_active:
        return ANONYMOUS
    staff = person.is_staff and second_factor
    held: dict[UUID, set[Role]] = defaultdict(set)
    grants = RoleGrant.objects.filter(person_id=person.id, person__is_active=True).select_related("site").order_by("site__name")
    for grant in grants:
        held[grant.site_id].add(Role(grant.role))
    sites = {grant.site_id: grant.site for grant in grants}
    roles = {site_id: frozenset(found) for site_id, found in held.items()}
    return Actor(ActorKind.PERSON, person.id, person.name, roles, proved_at, is_staff=staff, sites=tuple(sites.values()))


def find_person(person_id: UUID) -> Person | None:
    """The person with their preferences, in one query; None for nobody."""
    return Person.objects.select_related("preferences").filter(pk=person_id).first()


def preferences_of(person_id: UUID) -> Display:
    """What the person chose, or what everybody starts with."""
    return _display(Preferences.objects.filter(person_id=person_id).first())


def display_of(person: Person) -> Display:
    """The same for a signed-in person, whose preferences were loaded with them: no query."""
    return _display(getattr(person, "preferences", None))


def _display(row: Preferences | None) -> Display:
    return Display(row.theme, row.density, row.single_keys) if row is not None else Display()


def members_page(site_id: UUID, *, cursor: str | None = None, limit: str | None = None) -> Page[Member]:
    """People who hold a role at the site, by name. Raises Invalid for a wrong cursor."""
    held = RoleGrant.objects.filter(site_id=site_id)
    people = Person.objects.filter(id__in=held.values("person_id")).prefetch_related(
        Prefetch("grants", queryset=held.order_by("role"), to_attr="grants_here")
    )
    asked = QueryDict(mutable=True)
    asked.update({name: word for name, word in (("cursor", cursor), ("limit", limit)) if word})
    page = _MEMBERS.page(people, asked)
    return Page([_member(person, person.grants_here) for person in page.rows], page.next_cursor)


def names_of(ids: Collection[UUID]) -> dict[UUID, str]:
    """What people, machine credentials, tokens and invitations are called, by identifier. Four queries, however many."""
    named: dict[UUID, str] = {}
    if ids:
        for table in (Invitation, ApiToken, MachineCredential, Person):
            named.update(table.objects.filter(id__in=ids).values_list("id", "name"))
    return named


def find_member(site_id: UUID, person_id: UUID) -> Member | None:
    """Somebody who holds a role at the site; None for anybody else, whether they exist or not."""
    grants = list(RoleGrant.objects.filter(site_id=site_id, person_id=person_id).select_related("person"))
    return _member(grants[0].person, grants) if grants else None


def _member(person: Person, grants: Iterable[RoleGrant]) -> Member:
    roles = frozenset(Role(grant.role) for grant in grants)
    return Member(person.id, person.name, person.email, person.is_active, person.is_scripted, roles)


def person_by_email(email: str) -> Person | None:
    """The person who signs in with this address. For the console's own use: never shown to an admin of a site."""
    return Person.objects.filter(email=email.strip().lower()).first()


def people_active(person_ids: Sequence[UUID]) -> set[UUID]:
    """Of these people, those who may still act: for closing the sockets of the others. One query."""
    return set(Person.objects.filter(id__in=person_ids, is_active=True).values_list("id", flat=True))


def open_invitations(site_id: UUID, *, now: datetime | None = None, most: int = 200) -> list[Invitation]:
    """Invitations to a site whose link still works, newest first."""
    rows = Invitation.objects.filter(site_id=site_id, accepted_at=None, revoked_at=None, expires_at__gt=now or clock.now())
    return list(rows.order_by("-id")[:most])


def find_open_invitation(text: str, *, now: datetime | None = None) -> Invitation | None:
    """The invitation behind a link, if the link still works."""
    secret = Secret.parse(text, SecretKind.INVITATION)
    row = Invitation.objects.filter(prefix=secret.prefix).select_related("site").first() if secret else None
    if secret is None or not secret.matches(row.digest if row else NO_DIGEST) or row is None:
        return None
    spent = row.accepted_at is not None or is_revoked(row.revoked_at) or has_expired(row.expires_at, now or clock.now())
    return None if spent else row


def find_used_invitation(text: str, person_id: UUID) -> Invitation | None:
    """The invitation behind a link that this person has used, so that they may be sent where it led."""
    secret = Secret.parse(text, SecretKind.INVITATION)
    row = (
        Invitation.objects.filter(prefix=secret.prefix, accepted_by=person_id).select_related("site").first()
        if secret
        else None
    )
    return row if secret is not None and row is not None and secret.matches(row.digest) else None


def invitation_link(text: str) -> str:
    """The address to hand to the invited person, always under the console's one public address."""
    return f"{settings.PUBLIC_URL}{reverse('accounts:invitation', args=[text])}"
