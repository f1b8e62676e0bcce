"""The only writer of the tables of fleet. Applying events in the order of their positions gives the tables, from empty too.

Applying an event twice leaves the same row.
"""

from collections.abc import Iterable
from typing import Any, cast

from apps.fleet import events
from apps.fleet.projections.claims import APPLIERS, apply_hello
from apps.fleet.projections.facts import NEVER_ENDED, apply_facts
from apps.fleet.projections.noted import keep_reports, note_gateway
from apps.journal.events import decode
from apps.journal.types import Payload, Recorded

__all__ = ["NEVER_ENDED", "TABLES", "apply_payloads", "apply_recorded", "keep_reports", "note_gateway"]
# Each projected table with its columns that are no facts: the cursor's own number says nothing.
TABLES = {
    "fleet_bridge": frozenset[str](),
    "fleet_boot_cursor": frozenset({"id"}),
    "fleet_robot": frozenset[str](),
    "fleet_episode": frozenset[str](),
    "fleet_order": frozenset[str](),
}


def apply_payloads(payloads: Iterable[Payload]) -> None:
    """Project facts that were just appended, in the same transaction."""
    told: list[events.FromBridge] = []
    hello: list[events.RobotBound | events.RobotDescribed] = []
    for payload in payloads:
        if isinstance(payload, events.FromBridge):
            told.append(payload)
        elif isinstance(payload, events.RobotBound | events.RobotDescribed):
            hello.append(payload)
        else:
            APPLIERS[type(payload)](payload)
    apply_hello(hello)
    apply_facts(told)


def apply_recorded(recorded: Recorded) -> bool:
    """Project one stored event, for a rebuild; False when it is none of ours."""
    if not recorded.type.startswith("fleet."):
        return False
    apply_payloads([decode(recorded.type, recorded.version, cast("dict[str, Any]", recorded.payload))])
    return True
