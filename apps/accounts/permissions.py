"""Verbs of accounts."""

from apps.kernel.permissions import EVERY_ROLE, Scope, Verb, register
from apps.kernel.types import Role

_ADMIN = frozenset({Role.ADMIN})

register(
    Verb("kernel.public", "Anybody, signed in or not", scope=Scope.PUBLIC),
    Verb("kernel.signed_in", "Any known person, token or machine", scope=Scope.SIGNED_IN),
    Verb("kernel.person", "Any person signed in at a browser", scope=Scope.SIGNED_IN, people_only=True),
    Verb("accounts.view_site", "See a site, its floor and its figures", roles=EVERY_ROLE),
    Verb("accounts.create_site", "Make a site", scope=Scope.ANY_SITE, roles=_ADMIN, step_up=True),
    Verb("accounts.view_people", "See who holds which role", roles=frozenset({Role.ADMIN, Role.AUDITOR})),
    Verb("accounts.manage_people", "Invite people, grant and revoke roles", roles=_ADMIN, step_up=True),
    Verb("accounts.view_machines", "See machine credentials", roles=frozenset({Role.ADMIN, Role.AUDITOR})),
    Verb("accounts.manage_machines", "Make and revoke machine credentials", roles=_ADMIN, step_up=True),
    Verb("accounts.own_preferences", "Change one's own preferences", scope=Scope.OWN),
    Verb("accounts.view_own_tokens", "See one's own tokens", scope=Scope.OWN),
    Verb("accounts.manage_own_tokens", "Make and revoke one's own tokens", scope=Scope.OWN, step_up=True),
)
