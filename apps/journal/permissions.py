"""Verbs of the journal."""

from apps.kernel.permissions import EVERY_ROLE, Verb, register
from apps.kernel.types import Role

register(
    Verb("journal.view", "Read the facts of a site", roles=frozenset({Role.ADMIN, Role.AUDITOR, Role.APPROVER})),
    Verb("journal.follow", "Know how far the journal of a site has come", roles=EVERY_ROLE),
    Verb("journal.export", "Export and verify the journal of a site", roles=frozenset({Role.AUDITOR})),
)
