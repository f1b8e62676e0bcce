"""Makes robots, bridges that speak for them, and what bridges send."""

from collections.abc import Sequence
from datetime import datetime
from itertools import count
from typing import Any
from uuid import UUID

from apps.accounts.models import Site
from apps.accounts.selectors import verify_machine
from apps.accounts.services import create_machine_credential
from apps.accounts.types import VerifiedMachine
from apps.fleet import services
from apps.fleet.models import BootCursor, Bridge, Episode, Order, Robot, RobotReport
from apps.fleet.types import Claim, subject_name
from apps.kernel import clock
from apps.kernel.ids import new_id
from apps.kernel.types import system_actor
from workers.protocol import Channel, Described, Fact, Facts, Hello

TESTS = system_actor("tests")
_numbers = count(1)


def make_robot(site: Site, name: str = "", *, kind: str = "arm", is_simulated: bool | None = None) -> Robot:
    """A registered robot, simulated where its site is."""
    return services.register_robot(
        actor=TESTS,
        site_id=site.id,
        name=name or f"robot-{next(_numbers)}",
        kind=kind,
        is_simulated=site.is_simulated if is_simulated is None else is_simulated,
    )


def make_robots(site: Site, number: int) -> list[Robot]:
    """Several registered robots."""
    return [make_robot(site) for _ in range(number)]


def machine_for(site: Site, robots: Sequence[Robot], name: str = "") -> VerifiedMachine:
    """A credential that may speak for these robots, signed in."""
    return verify_machine(credential_for(site, robots, name))


def credential_for(site: Site, robots: Sequence[Robot], name: str = "") -> str:
    """The text of a credential that may speak for these robots."""
    subjects = [subject_name(robot.id) for robot in robots]
    made = create_machine_credential(actor=TESTS, site_id=site.id, name=name or f"bridge-{next(_numbers)}", subjects=subjects)
    assert made.text is not None
    return made.text


def hello_of(machine: VerifiedMachine, robots: Sequence[Robot], *, boot: UUID | None = None, **given: Any) -> Hello:
    """What a bridge of these robots says first."""
    described = [
        Described(
            subject=subject_name(robot.id),
            kind=robot.kind,
            is_simulated=robot.is_simulated,
            channels=[
                Channel(name="gripper", unit="mm", low=0.0, high=80.0, headline=True),
                Channel(name="joint_1", unit="rad"),
            ],
            cameras=["front"],
        )
        for robot in robots
    ]
    subjects = [subject_name(robot.id) for robot in robots]
    values: dict[str, Any] = {"subjects": subjects, "described": described, "software": "tests 1"} | given
    return Hello(bridge=machine.actor.name, boot=boot or new_id(), versions=[1], **values)


def connect(machine: VerifiedMachine, robots: Sequence[Robot], *, gateway: str = "gateway-1", **given: Any) -> Claim:
    """The bridge of these robots connects."""
    return services.claim_bridge(machine=machine, hello=hello_of(machine, robots, **given), gateway=gateway)


def facts_of(boot: UUID, robot: Robot, *bodies: Any, first: int = 1, at_ms: int = 1_700_000_000_000) -> Facts:
    """Facts of one boot about one robot, numbered from `first`."""
    subject = subject_name(robot.id)
    return Facts(
        boot=boot,
        facts=[
            Fact(sequence=first + index, at_ms=at_ms + index, subject=subject, body=body) for index, body in enumerate(bodies)
        ],
    )


def take(machine: VerifiedMachine, claim: Claim, facts: Facts, *, received_at: datetime | None = None) -> int:
    """The gateway hands facts of this connection over."""
    return services.take_facts(
        machine=machine,
        bridge_id=claim.bridge_id,
        epoch=claim.epoch,
        facts=facts,
        received_at=received_at or clock.now(),
    )


def robot_row(site: Site, name: str = "arm") -> Robot:
    """The robot of this name at a site, made at first use; no bridge speaks for it."""
    return Robot.objects.filter(site=site, name=name).first() or make_robot(site, name)


def bridge_row(site: Site, name: str = "arms") -> Bridge:
    """A bridge that connected once and is gone."""
    now = clock.now()
    values = {"credential_id": new_id(), "epoch": 1, "boot": new_id(), "gateway": name, "connected_at": now, "lost_at": now}
    return Bridge.objects.get_or_create(site=site, name=name, defaults=values)[0]


def cursor_row(site: Site, name: str = "arms") -> BootCursor:
    """How far one boot of a bridge was taken."""
    return BootCursor.objects.create(bridge=bridge_row(site, name), boot=new_id(), sequence=1, taken_at=clock.now())


def report_row(site: Site, name: str = "arm") -> RobotReport:
    """What a robot last said of itself."""
    values = {
        "boot": new_id(),
        "sequence": 1,
        "device_ms": 1,
        "received_at": clock.now(),
        "mode": "hold",
        "body": {"task": name},
    }
    return RobotReport.objects.get_or_create(robot=robot_row(site, name), defaults=values)[0]


def episode_row(site: Site, name: str = "arm") -> Episode:
    """An episode that runs."""
    values: dict[str, Any] = {"task": name, "driver": "policy", "started_at": clock.now(), "device_ms": 1, "boot": new_id()}
    return Episode.objects.create(id=new_id(), site=site, robot=robot_row(site, name), bridge=bridge_row(site, name), **values)


def order_row(site: Site, name: str = "arm") -> Order:
    """An order that nobody carried out."""
    now = clock.now()
    values: dict[str, Any] = {"name": "reset_scene", "placed_at": now, "valid_until": now}
    return Order.objects.create(site=site, robot=robot_row(site, name), detail=name, **values)
