"""Verbs of fleet."""

from apps.kernel.permissions import EVERY_ROLE, Scope, Verb, register
from apps.kernel.types import Role

register(
    Verb("fleet.view", "See robots, their episodes and their log", roles=EVERY_ROLE),
    Verb("fleet.register_robot", "Register robots, release them from their bridge", roles=frozenset({Role.ADMIN})),
    Verb("fleet.reset_scene", "Ask for the reset of a scene", roles=frozenset({Role.FLOOR_OPERATOR})),
    # At simulated sites and to simulated robots only; the service holds that.
    Verb("fleet.inject_fault", "Turn the fault knobs of simulated robots", roles=frozenset({Role.ADMIN, Role.OPERATOR})),
    Verb("fleet.speak", "Claim robots and tell facts of them", machines=True),
    Verb("fleet.watch_gateways", "Note which gateways and bridges are lost", scope=Scope.SYSTEM),
)
