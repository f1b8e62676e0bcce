"""People behind open pages, with the roles that they held a moment ago."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from uuid import UUID

from apps.ingest.gateway.viewers import Viewer
from apps.kernel.permissions import can
from apps.kernel.types import Actor, Role, SubjectRef

SIGNED_OUT, NOT_ALLOWED = 4401, 4403


@dataclass(eq=False)
class Operator:
    """One page's socket and the person behind it, as far as they may be counted on now."""

    session_key: str
    actor: Actor
    viewer: Viewer
    ending: asyncio.Future[tuple[int, str]] = field(default_factory=lambda: asyncio.get_running_loop().create_future())

    def end(self, code: int, reason: str) -> None:
        """Send nothing more and close."""
        if not self.ending.done():
            self.ending.set_result((code, reason))

    def hold(self, roles: Mapping[UUID, frozenset[Role]]) -> None:
        """The person's roles now; without any at a watched site the socket ends."""
        self.actor = replace(self.actor, roles=roles)
        if any(not may_watch(self.actor, site_id) for site_id in self.viewer.watched):
            self.end(NOT_ALLOWED, "not allowed")


def may_watch(actor: Actor, site_id: UUID) -> bool:
    """Whether the actor may see the floor of a site."""
    return bool(can(actor, "fleet.view", SubjectRef("site", site_id, site_id=site_id)))
