"""Verbs of accounts."""

from apps.kernel.permissions import EVERY_ROLE, Scope, Verb, register
from apps.kernel.types import Role

_ADMIN = frozenset({Role.ADMIN})
_ADMIN_AUDITOR = frozenset({Role.ADMIN, Role.AUDITOR})
_NOBODY: frozenset[Role] = frozenset()

register(
    Verb("kernel.public", "Anybody, signed in or not", scope=Scope.PUBLIC),
    Verb("kernel.signed_in", "Any known person, token or machine", scope=Scope.SIGNED_IN),
    Verb("kernel.person", "Any person signed in at a browser", scope=Scope.SIGNED_IN, people_only=True),
    Verb("accounts.view_site", "See a site, its floor and its figures", roles=EVERY_ROLE),
    Verb("accounts.create_site", "Make a site", scope=Scope.ANY_SITE, roles=_ADMIN, step_up=True),
    Verb("accounts.view_site_settings", "See the settings of a site", roles=_ADMIN_AUDITOR),
    Verb("accounts.change_site_settings", "Change the settings of a site", roles=_ADMIN, step_up=True),
    Verb("accounts.view_people", "See who holds which role", roles=_ADMIN_AUDITOR),
    Verb("accounts.manage_people", "Invite people, grant and revoke roles", roles=_ADMIN, step_up=True),
    Verb("accounts.view_machines", "See machine credentials", roles=_ADMIN_AUDITOR),
    Verb("accounts.manage_machines", "Make machine credentials", roles=_ADMIN, step_up=True),
    # To take reach away must be quick, so it asks for no fresh proof; a role is different, it locks a person out.
    Verb("accounts.revoke_machines", "Revoke machine credentials", roles=_ADMIN, people_only=True),
    # What belongs to a person is outside the one role at one site that a token stands for, hence people only.
    Verb("accounts.own_preferences", "Change one's own preferences", scope=Scope.OWN, people_only=True),
    Verb("accounts.view_own_tokens", "See one's own tokens", scope=Scope.OWN, people_only=True),
    Verb("accounts.manage_own_tokens", "Make one's own tokens", scope=Scope.OWN, step_up=True),
    Verb("accounts.revoke_own_tokens", "Revoke one's own tokens", scope=Scope.OWN, people_only=True),
    Verb("accounts.manage_own_sign_in", "Change one's own password, factors, sessions", scope=Scope.OWN, people_only=True),
    Verb("accounts.use_admin_site", "Look into the tables at /admin/, from an allowed network", scope=Scope.STAFF),
    Verb("accounts.manage_sign_in", "End anybody's sessions, remove lost factors", scope=Scope.STAFF, step_up=True),
    Verb("accounts.forget_old_sign_ins", "Forget sessions and budgets that ran out", scope=Scope.SYSTEM),
    Verb("accounts.unoffered", "Pages of the sign-in library that this console does not offer", scope=Scope.ANY_SITE),
    Verb("accounts.create_person", "Make a person without an invitation: the console itself only", roles=_NOBODY),
    Verb("accounts.deactivate_person", "Switch a person off everywhere", scope=Scope.STAFF, step_up=True),
)
