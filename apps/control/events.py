"""Facts of Stop. All of one site share a stream, so that they have one order."""

from datetime import datetime
from uuid import UUID

from apps.journal.events import event
from apps.journal.types import Payload


def site_stream(site_id: UUID) -> str:
    """The stream of the Stops of one site."""
    return f"control.site:{site_id}"


@event("control.stop_requested")
class StopRequested(Payload, frozen=True):
    """Somebody pressed Stop. It was sent before this was recorded.

    `pressed_at` is the browser's clock, `received_at` the gateway's. `subjects` are `kind:id`; empty for the whole site.
    A `round` above the last one presses a cleared Stop anew.
    """

    stop_id: UUID
    site_id: UUID
    round: int
    is_whole_site: bool
    subjects: list[str]
    pressed_by: UUID | None
    pressed_by_name: str
    pressed_at: datetime
    received_at: datetime
    gateway: str
    recorded_at: datetime


@event("control.stop_sent")
class StopSent(Payload, frozen=True):
    """The Stop of a whole site was sent to these subjects."""

    stop_id: UUID
    site_id: UUID
    subjects: list[str]


@event("control.stop_confirmed")
class StopConfirmed(Payload, frozen=True):
    """A subject reported that the Stop is in effect. Times by its own clock; `recorded_at` by the console's."""

    stop_id: UUID
    site_id: UUID
    subject: str
    latched_at: datetime
    ended_at: datetime
    recorded_at: datetime


@event("control.clear_requested")
class ClearRequested(Payload, frozen=True):
    """A floor operator asked that the Stop be cleared."""

    stop_id: UUID
    site_id: UUID
    clear_id: UUID
    requested_by: UUID
    requested_by_name: str
    requested_at: datetime
    expires_at: datetime


@event("control.clear_withdrawn")
class ClearWithdrawn(Payload, frozen=True):
    """What was asked no longer stands: taken back, or nobody confirmed it in time. The Stop holds."""

    stop_id: UUID
    site_id: UUID
    clear_id: UUID
    withdrawn_by: UUID | None


@event("control.stop_cleared")
class StopCleared(Payload, frozen=True):
    """The Stop holds no longer: the subjects are told, and each reports its own release."""

    stop_id: UUID
    site_id: UUID
    clear_id: UUID
    cleared_by: UUID
    cleared_by_name: str
    cleared_at: datetime


@event("control.stop_released")
class StopReleased(Payload, frozen=True):
    """A subject reported that the Stop no longer holds it."""

    stop_id: UUID
    site_id: UUID
    subject: str
    released_at: datetime
    recorded_at: datetime


@event("control.policy_changed")
class PolicyChanged(Payload, frozen=True):
    """Whether one person may clear a Stop at this site; only where everything is simulated."""

    site_id: UUID
    one_person_clears: bool
    version: int
