"""Verbs of the journal."""

from apps.kernel.permissions import EVERY_ROLE, Scope, Verb, register
from apps.kernel.types import Role

register(
    Verb("journal.view", "Read the facts of a site", roles=frozenset({Role.ADMIN, Role.AUDITOR, Role.APPROVER})),
    Verb("journal.follow", "Know how far the journal of a site has come", roles=EVERY_ROLE),
    Verb("journal.forget_old_keys", "Forget idempotency keys nobody will use again", scope=Scope.SYSTEM),
    Verb("journal.export", "Export and verify the journal of a site", roles=frozenset({Role.AUDITOR})),
)
