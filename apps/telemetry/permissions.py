"""Verbs of telemetry."""

from apps.kernel.permissions import EVERY_ROLE, Scope, Verb, register

register(
    Verb("telemetry.view", "Read what the subjects of a site measured", roles=EVERY_ROLE),
    Verb("telemetry.forget_old_blocks", "Forget samples older than they are kept", scope=Scope.SYSTEM),
)
