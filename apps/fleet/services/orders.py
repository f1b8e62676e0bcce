"""Ask a connected robot for something: at once or never."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from apps.accounts import selectors as accounts
from apps.fleet import events, projections
from apps.fleet.lifecycle import decide_order
from apps.fleet.models import Order
from apps.fleet.services.robots import locked, person_id, state_of
from apps.fleet.types import CLEAR, INJECT
from apps.journal.services import operation
from apps.kernel import clock
from apps.kernel.ids import new_id
from apps.kernel.permissions import require
from apps.kernel.types import Actor


def place_order(
    *,
    actor: Actor,
    site_id: UUID,
    robot_id: UUID,
    name: str,
    arguments: Mapping[str, Any] | None = None,
    idempotency_key: str | None = None,
) -> Order:
    """Ask one robot for `reset_scene`, `inject_fault` or `clear_fault`. Its gateway sends it within a second, or never.

    Raises NotAllowed, NotFound, Invalid; Conflict when its bridge is not connected: nothing is kept for later.
    """
    arguments = dict(arguments or {})
    request = {"site_id": site_id, "robot_id": robot_id, "name": name, "arguments": arguments}
    with operation(actor, "fleet.place_order", key=idempotency_key, request=request) as act:
        robot = locked(site_id, robot_id)
        require(actor, "fleet.inject_fault" if name in {INJECT, CLEAR} else "fleet.reset_scene", robot)
        if act.is_replay:
            return Order.objects.get(id=act.replayed["order_id"])
        fact = decide_order(
            state_of(robot),
            order_id=new_id(),
            is_site_simulated=accounts.get_site(site_id).is_simulated,
            name=name,
            arguments=arguments,
            placed_by=person_id(actor),
            now=clock.shared(),  # a gateway elsewhere counts how long it holds
        )
        act.append(events.robot_stream(robot_id), [fact], site_id=site_id)
        projections.apply_payloads([fact])
        act.done({"order_id": str(fact.order_id)})
        return Order.objects.get(id=fact.order_id)
