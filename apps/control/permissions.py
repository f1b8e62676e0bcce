"""Verbs of Stop.

Anybody with any role at a site stops anything there. Clearing takes two people: a floor operator, who has looked at the
floor, and a second person whose role has to do with the machines. Both are people at a browser who proved who they are
within five minutes, so that neither a token, a machine nor an unattended screen releases anything.
"""

from apps.kernel.permissions import EVERY_ROLE, Scope, Verb, register
from apps.kernel.types import Role

SECOND_PERSONS = frozenset({Role.OPERATOR, Role.TELEOPERATOR, Role.FLOOR_OPERATOR, Role.ADMIN})
_FLOOR = frozenset({Role.FLOOR_OPERATOR})

register(
    Verb("control.view_stops", "See the Stops of a site", roles=EVERY_ROLE),
    Verb("control.stop", "Stop a subject, or all of a site", roles=EVERY_ROLE),
    Verb("control.confirm_stop", "Report that a Stop took effect, or ended", machines=True),
    Verb("control.request_clear", "Ask that a Stop be cleared", roles=_FLOOR, step_up=True, people_only=True),
    Verb("control.withdraw_clear", "Withdraw what was asked", roles=_FLOOR, people_only=True),
    Verb("control.confirm_clear", "Clear a Stop as the second person", roles=SECOND_PERSONS, step_up=True, people_only=True),
    Verb("control.change_policy", "Say how Stops are cleared", roles=frozenset({Role.ADMIN}), step_up=True),
    Verb("control.watch", "Withdraw requests to clear that ran out", scope=Scope.SYSTEM),
)
