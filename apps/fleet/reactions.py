"""Facts that need a person become alarms: a policy that had to be refused, a robot that two bridges claim."""

from apps.alarms.services import set_condition
from apps.fleet import events
from apps.fleet.types import ROBOT
from apps.journal.events import decode
from apps.journal.services import react
from apps.journal.types import Payload, Recorded
from apps.kernel.types import SubjectRef, system_actor

_ACTOR = system_actor("fleet alarms")
_ALARMS: dict[type[Payload], tuple[str, bool]] = {
    events.ActionRefused: ("policy_unsafe", True),
    events.EpisodeStarted: ("policy_unsafe", False),  # it goes on: what was wrong waits for an acknowledgement only
    events.ClaimRefused: ("claim_refused", True),
    events.ClaimWithdrawn: ("claim_refused", False),
    events.RobotReleased: ("claim_refused", False),
}


def raise_alarm(recorded: Recorded) -> None:
    """Say what this fact means for the alarm of its robot. Robots of one bridge share an alarm: it runs their policy."""
    fact = decode(recorded.type, recorded.version, recorded.payload)
    name, active = _ALARMS[type(fact)]
    bridge_id, robot_id = getattr(fact, "bridge_id"), getattr(fact, "robot_id")  # noqa: B009 - each of these kinds has both
    set_condition(
        actor=_ACTOR,
        definition=name,
        subject=SubjectRef(ROBOT, robot_id, site_id=recorded.site_id),
        active=active,
        at=recorded.recorded_at,
        detail=str(getattr(fact, "reason", "") or getattr(fact, "bridge_name", "")),
        cause=SubjectRef("bridge", bridge_id, site_id=recorded.site_id) if active else None,
    )


react("fleet.alarms", {kind.event_type for kind in _ALARMS}, raise_alarm)
