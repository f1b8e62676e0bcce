"""Facts of fleet as people say them. `name` gives the name of the robot or bridge behind a key of the payload."""

from collections.abc import Callable, Mapping
from typing import Any

Payload = Mapping[str, Any]
Name = Callable[[str], str]
_OUTCOMES = {
    "success": "succeeded",
    "failure": "failed",
    "unsafe": "ended unsafe",
    "aborted": "was aborted",
}
_ORDERS = {"reset_scene": "reset its scene", "inject_fault": "inject the fault", "clear_fault": "clear the fault"}


def _order(payload: Payload) -> str:
    fault = str(payload["arguments"].get("name", "")).replace("_", " ")
    return f"{_ORDERS[payload['name']]}{' ' if fault else ''}{fault}"


def _why(payload: Payload) -> str:
    """The reason, where it says more than the outcome does."""
    reason = payload.get("reason")
    return f": {reason}" if reason and reason != payload.get("outcome") else ""


ROBOT_SENTENCES: Mapping[str, Callable[[Payload, Name], str]] = {
    "fleet.robot_registered": lambda told, _name: (
        f"{'Simulated robot' if told['is_simulated'] else 'Robot'} {told['name']} was registered"
    ),
    "fleet.robot_bound": lambda told, name: f"Bridge {told['bridge_name']} speaks for {name('robot_id')} from now on",
    "fleet.robot_described": lambda told, name: f"{name('robot_id')} measures {len(told['channels'])} channels",
    "fleet.robot_released": lambda _told, name: f"{name('robot_id')} was released from its bridge",
    "fleet.claim_refused": lambda told, name: (
        f"Bridge {told['bridge_name']} wanted {name('robot_id')}, which another one holds"
    ),
    "fleet.claim_withdrawn": lambda _told, name: f"Nobody else claims {name('robot_id')} any more",
    "fleet.bridge_connected": lambda told, _name: f"Bridge {told['name']} connected, epoch {told['epoch']}",
    "fleet.bridge_lost": lambda told, name: f"The connection of {name('bridge_id')} ended{_why(told)}",
    "fleet.episode_started": lambda told, name: (
        f"{name('robot_id')} began {told['task']}, driven by {told['skill'] or told['driver']}"
    ),
    "fleet.episode_ended": lambda told, name: f"An episode of {name('robot_id')} {_OUTCOMES[told['outcome']]}{_why(told)}",
    "fleet.action_refused": lambda told, name: f"{name('robot_id')} refused what its policy wanted{_why(told)}",
    "fleet.needs_reset": lambda told, name: f"{name('robot_id')} needs a person on the floor{_why(told)}",
    "fleet.was_reset": lambda _told, name: f"The scene of {name('robot_id')} is ready again",
    "fleet.stop_latched": lambda _told, name: f"{name('robot_id')} reports that Stop is in effect",
    "fleet.stop_released": lambda _told, name: f"{name('robot_id')} reports that a Stop no longer holds it",
    "fleet.order_placed": lambda told, name: f"{name('robot_id')} was asked to {_order(told)}",
    "fleet.order_done": lambda told, name: (
        f"{name('robot_id')} {'did' if told['succeeded'] else 'did not do'} what it was asked"
        + (f": {told['detail']}" if told["detail"] else "")
    ),
    "fleet.fact_refused": lambda told, _name: f"A fact of {told['subject']} was refused: {told['reason']}",
}
