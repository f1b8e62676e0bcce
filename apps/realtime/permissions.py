"""Who may follow what. A topic has no verb of its own: whoever may read the page may follow it."""

from apps.kernel.errors import NotFound, NotSignedIn
from apps.kernel.permissions import can
from apps.kernel.types import Actor
from apps.realtime.topics import Named
from apps.realtime.types import RefusalCode


def refusal_of(actor: Actor, named: Named) -> RefusalCode | None:
    """None when `actor` may follow the topic, else the reason that may be told."""
    decision = can(actor, named.topic.verb, named.subject)
    if decision.refusal is None:
        return None
    hidden = isinstance(decision.refusal, NotFound | NotSignedIn)
    return RefusalCode.UNKNOWN if hidden else RefusalCode.NOT_ALLOWED
