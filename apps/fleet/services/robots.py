"""Register robots and take them from their bridge."""

from uuid import UUID

from django.db import IntegrityError, transaction

from apps.accounts import selectors as accounts
from apps.fleet import events, projections
from apps.fleet.lifecycle import RobotState, decide_registration, decide_release
from apps.fleet.models import Robot
from apps.journal.services import operation
from apps.kernel import clock
from apps.kernel.errors import Conflict, NotFound
from apps.kernel.ids import new_id
from apps.kernel.permissions import require
from apps.kernel.types import Actor, ActorKind, SubjectRef


def register_robot(
    *,
    actor: Actor,
    site_id: UUID,
    name: str,
    kind: str,
    is_simulated: bool = False,
    idempotency_key: str | None = None,
) -> Robot:
    """Give a robot a name at a site, for credentials to be bound to. Raises NotAllowed, NotFound, Invalid, Conflict."""
    request = {"site_id": site_id, "name": name, "kind": kind, "is_simulated": is_simulated}
    with operation(actor, "fleet.register_robot", key=idempotency_key, request=request) as act:
        require(actor, "fleet.register_robot", SubjectRef("site", site_id, site_id=site_id))
        if act.is_replay:
            return Robot.objects.get(id=act.replayed["robot_id"])
        site = accounts.get_site(site_id)
        fact = decide_registration(
            robot_id=new_id(),
            site_id=site_id,
            is_site_simulated=site.is_simulated,
            name=name,
            kind=kind,
            is_simulated=is_simulated,
            registered_by=person_id(actor),
            now=clock.now(),
        )
        try:
            with transaction.atomic():
                projections.apply_payloads([fact])
        except IntegrityError as error:
            raise Conflict("A robot of this name is at this site already.", code="name_taken") from error
        act.append(events.robot_stream(fact.robot_id), [fact], site_id=site_id)
        act.done({"robot_id": str(fact.robot_id)})
        return Robot.objects.get(id=fact.robot_id)


def release_robot(
    *,
    actor: Actor,
    site_id: UUID,
    robot_id: UUID,
    expected: int | None = None,
    idempotency_key: str | None = None,
) -> Robot:
    """Take a robot from its bridge: the next one that claims it gets it. `expected` is the `version` the page showed.

    Facts of the old bridge about it are refused from now on. Raises NotAllowed, NotFound, Stale, Conflict.
    """
    request = {"site_id": site_id, "robot_id": robot_id, "expected": expected}
    with operation(actor, "fleet.release_robot", key=idempotency_key, request=request) as act:
        robot = locked(site_id, robot_id)
        require(actor, "fleet.register_robot", robot)
        if act.is_replay:
            return robot
        fact = decide_release(state_of(robot), expected=expected, released_by=person_id(actor), now=clock.now())
        act.append(events.robot_stream(robot_id), [fact], site_id=site_id)
        projections.apply_payloads([fact])
        act.done({})
        return Robot.objects.get(id=robot_id)


def locked(site_id: UUID, robot_id: UUID) -> Robot:
    """One robot of one site, its row locked until the transaction ends. Raises NotFound."""
    robot = Robot.objects.select_for_update(no_key=True, of=("self",)).select_related("bridge")
    found = robot.filter(id=robot_id, site_id=site_id).first()
    if found is None:
        raise NotFound("There is nothing here.")
    return found


def state_of(robot: Robot) -> RobotState:
    """What decisions need to know of a robot whose bridge was loaded with it."""
    bridge = robot.bridge
    return RobotState(
        id=robot.id,
        site_id=robot.site_id,
        name=robot.name,
        kind=robot.kind,
        is_simulated=robot.is_simulated,
        version=robot.version,
        bridge_id=robot.bridge_id,
        contested_by=robot.contested_by_id,
        channels=robot.channels,
        cameras=robot.cameras,
        is_connected=bridge is not None and bridge.connected_at is not None and bridge.lost_at is None,
    )


def person_id(actor: Actor) -> UUID | None:
    """The person behind an act, by browser or by token."""
    return actor.id if actor.kind in {ActorKind.PERSON, ActorKind.TOKEN} else None
