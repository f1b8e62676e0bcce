"""I1: epochs of bridges strictly rise, and one bridge at a time tells of a robot."""

from collections.abc import Iterator

from tests.faults.checker.findings import Finding
from tests.faults.checker.journal import Event, Export


def claims(export: Export) -> list[Finding]:
    """What contradicts it in the journal."""
    found = [*_epochs(export), *_one_bridge(export), *_boots(export)]
    return [Finding("I1", what) for what in found]


def _epochs(export: Export) -> Iterator[str]:
    newest: dict[str, int] = {}
    told = {id(event) for event in export.from_bridges()}
    for event in sorted(export.events, key=lambda event: event.position):
        bridge = event.payload.get("bridge_id")
        if event.type == "fleet.bridge_connected":
            if event.payload["epoch"] <= newest.get(bridge, 0):
                yield f"{event}: epoch {event.payload['epoch']} of bridge {bridge} follows epoch {newest[bridge]}"
            newest[bridge] = max(newest.get(bridge, 0), event.payload["epoch"])
        elif id(event) in told and event.payload["epoch"] != newest.get(bridge, 0):
            yield f"{event}: came under epoch {event.payload['epoch']} while {newest.get(bridge, 0)} of bridge {bridge} held"


def _one_bridge(export: Export) -> Iterator[str]:
    holder: dict[str, str] = {}
    told = {id(event) for event in export.from_bridges()}
    for event in sorted(export.events, key=lambda event: event.position):
        robot, bridge = event.payload.get("robot_id"), event.payload.get("bridge_id")
        if event.type == "fleet.robot_bound":
            if holder.get(robot, bridge) != bridge:
                yield f"{event}: robot {robot} is bound to bridge {bridge} while bridge {holder[robot]} has it"
            holder[robot] = bridge
        elif event.type == "fleet.robot_released":
            holder.pop(robot, None)
        elif id(event) in told and robot is not None and holder.get(robot) != bridge:
            yield f"{event}: bridge {bridge} tells of robot {robot}, which {_whose(holder.get(robot))}"


def _whose(bridge: str | None) -> str:
    return f"bridge {bridge} has" if bridge else "no bridge has"


def _boots(export: Export) -> Iterator[str]:
    of: dict[str, Event] = {}
    for event in export.from_bridges():
        first = of.setdefault(event.payload["boot"], event)
        if first.payload["bridge_id"] != event.payload["bridge_id"]:
            yield f"{event}: boot {event.payload['boot']} was another bridge's in {first}"
