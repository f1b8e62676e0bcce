"""Verbs of alarms. To acknowledge says that a person saw it, so no token, machine or task does."""

from apps.kernel.permissions import EVERY_ROLE, Scope, Verb, register
from apps.kernel.types import Role

HANDLERS = frozenset({Role.OPERATOR, Role.TELEOPERATOR, Role.FLOOR_OPERATOR, Role.ADMIN})

register(
    Verb("alarms.view", "See the alarms of a site", roles=EVERY_ROLE),
    Verb("alarms.acknowledge", "Say that one saw an alarm", roles=HANDLERS, people_only=True),
    Verb("alarms.reset", "End an alarm whose condition has gone", roles=HANDLERS, people_only=True),
    Verb("alarms.shelve", "Hide an alarm for a time", roles=HANDLERS, people_only=True),
    Verb("alarms.set_condition", "Say that a condition began or ended", scope=Scope.SYSTEM),
    Verb("alarms.watch", "Look for what only the console itself can see", scope=Scope.SYSTEM),
)
