"""Words shared by every app: roles, actors, references to subjects."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Protocol
from uuid import UUID


class Role(StrEnum):
    """The nine site-scoped roles. A person may hold several at one site."""

    VIEWER = "viewer"
    OPERATOR = "operator"
    TELEOPERATOR = "teleoperator"
    FLOOR_OPERATOR = "floor_operator"
    REVIEWER = "reviewer"
    SKILL_AUTHOR = "skill_author"
    APPROVER = "approver"
    ADMIN = "admin"
    AUDITOR = "auditor"

    @property
    def label(self) -> str:
        """The role in words."""
        return self.value.replace("_", " ")


class ActorKind(StrEnum):
    """Who may act."""

    ANONYMOUS = "anonymous"
    PERSON = "person"
    TOKEN = "token"  # noqa: S105 - a person's own API token: their identity, a narrower reach
    MACHINE = "machine"
    SYSTEM = "system"


class SiteLike(Protocol):
    """What the app that owns sites hands out."""

    id: UUID
    slug: str


@dataclass(frozen=True)
class Actor:
    """Whoever acts, with the roles held at each site at the time of loading.

    `id` is the person's, machine's or part's identifier. `proved_at` is when a person last proved who they are,
    None for anything else, so that only a person at a browser can step up. `is_staff` is true only for staff who gave
    a second factor in this session. `sites` are the sites of `roles` by name, where they were loaded together.
    """

    kind: ActorKind
    id: UUID | None = None
    name: str = ""
    roles: Mapping[UUID, frozenset[Role]] = field(default_factory=dict)
    proved_at: datetime | None = None
    token_id: UUID | None = None
    is_staff: bool = False
    sites: tuple[SiteLike, ...] = field(default=(), compare=False, repr=False)

    @property
    def is_known(self) -> bool:
        """Whether the actor is anyone at all."""
        return self.kind is not ActorKind.ANONYMOUS

    def roles_at(self, site_id: UUID | None) -> frozenset[Role]:
        """Roles held at one site; none for an unknown site."""
        return self.roles.get(site_id, frozenset()) if site_id is not None else frozenset()

    def knows_site(self, site_id: UUID | None) -> bool:
        """Whether the actor may know that the site exists."""
        return self.kind is ActorKind.SYSTEM or bool(self.roles_at(site_id))


ANONYMOUS = Actor(ActorKind.ANONYMOUS)


def system_actor(part: str) -> Actor:
    """The console itself, acting through one named part (for instance `supervisor`)."""
    return Actor(ActorKind.SYSTEM, name=part)


@dataclass(frozen=True)
class SubjectRef:
    """A reference to anything that can be watched, driven or judged, by kind and id, and the one site it belongs to."""

    kind: str
    id: UUID
    site_id: UUID | None = None
    owner_id: UUID | None = None
