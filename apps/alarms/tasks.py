"""What the worker does about alarms every few seconds."""

from apps.alarms import services
from apps.kernel.tasks import console_task
from apps.kernel.types import Actor


@console_task("alarms.watch", soft_limit_s=20, limit_s=30)
def look_around(actor: Actor) -> None:
    """Raise and end what no gateway's samples show, then show what was shelved long enough, and escalate what is late."""
    services.look_around(actor=actor)
    services.tend_alarms(actor=actor)
