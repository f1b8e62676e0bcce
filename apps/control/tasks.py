"""What the worker does about Stops."""

from apps.control import services
from apps.kernel.tasks import console_task
from apps.kernel.types import Actor


@console_task("control.watch", soft_limit_s=20, limit_s=30)
def drop_expired_clears(actor: Actor) -> None:
    """Withdraw requests to clear that nobody confirmed in time. The Stops hold either way."""
    services.drop_expired_clears(actor=actor)
