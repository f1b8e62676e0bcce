from datetime import timedelta

import pytest

from apps.fleet import selectors
from apps.fleet.models import Order
from apps.fleet.services import place_order, release_bridge
from apps.fleet.types import FAULTS, ORDER_LIFE
from apps.kernel import clock
from apps.kernel.errors import Conflict, Invalid, NotAllowed, NotFound
from apps.kernel.ids import new_id
from apps.kernel.types import Role
from tests.factories.accounts import actor_of, grant, make_person, make_site
from tests.factories.fleet import TESTS, connect, facts_of, machine_for, make_robot, take
from workers.protocol import OrderDone

FAULT = {"name": "gripper_slip", "seconds": 5}


def order(actor, robot, name="inject_fault", arguments=FAULT, **given):
    if name == "reset_scene":
        arguments = {}
    return place_order(actor=actor, site_id=robot.site_id, robot_id=robot.id, name=name, arguments=arguments, **given)


def test_an_order_is_open_until_the_robot_says_it_is_done(robot, machine, claim, boot, admin):
    placed = order(admin, robot)
    found = selectors.open_orders([robot.id])
    assert [(one.id, one.name, one.arguments) for one in found] == [(placed.id, "inject_fault", FAULT)]
    take(machine, claim, facts_of(boot, robot, OrderDone(order=placed.id, succeeded=True, detail="slipping")))
    assert selectors.open_orders([robot.id]) == []
    placed.refresh_from_db()
    assert (placed.succeeded, placed.detail) == (True, "slipping")


def test_an_order_that_nobody_carried_out_in_time_is_not_open(robot, claim, admin):
    placed = order(admin, robot)
    assert placed.valid_until - placed.placed_at == ORDER_LIFE
    late = clock.now() + ORDER_LIFE + timedelta(milliseconds=1)
    assert selectors.open_orders([robot.id], now=late) == []


def test_repeating_it_places_one(robot, claim, admin):
    first, again = (order(admin, robot, idempotency_key="k") for _ in "12")
    assert first.id == again.id
    assert Order.objects.count() == 1


@pytest.mark.parametrize(
    ("name", "role", "refusal"),
    [
        *(("inject_fault", role, NotAllowed) for role in Role if role not in {Role.ADMIN, Role.OPERATOR}),
        ("inject_fault", None, NotFound),
        ("clear_fault", Role.FLOOR_OPERATOR, NotAllowed),
        *(("reset_scene", role, NotAllowed) for role in Role if role is not Role.FLOOR_OPERATOR),
        ("reset_scene", None, NotFound),
    ],
)
def test_others_are_refused(robot, claim, somebody, refused, name, role, refusal):
    actor = somebody(role)
    with refused(refusal):
        order(actor, robot, name, {"name": "gripper_slip"})


def test_a_floor_operator_resets(robot, claim, somebody):
    assert order(somebody(Role.FLOOR_OPERATOR), robot, "reset_scene").arguments == {}


def test_nothing_is_kept_for_a_robot_that_is_not_connected(site, robot, machine, admin, refused):
    with refused(Conflict, "not_connected"):
        order(admin, robot)
    claim = connect(machine, [robot])
    release_bridge(actor=TESTS, site_id=site.id, bridge_id=claim.bridge_id, epoch=claim.epoch, reason="closed")
    with refused(Conflict, "not_connected"):
        order(admin, robot)


@pytest.mark.parametrize("is_simulated", [True, False])
def test_faults_are_injected_at_simulated_sites_only(refused, is_simulated):
    site = make_site()
    robot = make_robot(site, is_simulated=is_simulated)
    connect(machine_for(site, [robot]), [robot])
    operator = actor_of(grant(make_person(), site, Role.OPERATOR))
    with refused(NotAllowed, "not_simulated"):
        order(operator, robot)


@pytest.mark.parametrize(
    ("name", "arguments", "field"),
    [
        ("dance", {}, "name"),
        ("inject_fault", {}, "name"),
        ("inject_fault", {"name": "all"}, "name"),
        ("inject_fault", {"name": ["gripper_slip"]}, "name"),
        ("inject_fault", {"name": "gripper_slip", "seconds": -1}, "seconds"),
        ("inject_fault", {"name": "gripper_slip", "seconds": 601}, "seconds"),
        ("inject_fault", {"name": "gripper_slip", "seconds": float("nan")}, "seconds"),
        ("inject_fault", {"name": "gripper_slip", "seconds": True}, "seconds"),
        ("inject_fault", {"name": "gripper_slip", "seconds": "5"}, "seconds"),
        ("inject_fault", {"name": "gripper_slip", "rm": "-rf"}, "arguments"),
    ],
)
def test_bad_input(robot, claim, refused, name, arguments, field):
    with refused(Invalid) as caught:
        order(TESTS, robot, name, arguments)
    assert set(caught.value.fields) == {field}


def test_a_reset_takes_no_arguments(site, robot, claim, refused):
    with refused(Invalid):
        place_order(actor=TESTS, site_id=site.id, robot_id=robot.id, name="reset_scene", arguments={"x": 1})


def test_a_robot_of_another_site(site, robot, claim, admin, refused):
    theirs = make_robot(make_site())
    for robot_id in (theirs.id, new_id()):
        with refused(NotFound):
            place_order(actor=admin, site_id=site.id, robot_id=robot_id, name="inject_fault", arguments=FAULT)


@pytest.mark.parametrize("fault", FAULTS)
def test_every_knob_can_be_turned_on_and_off(robot, claim, admin, fault):
    assert order(admin, robot, "inject_fault", {"name": fault}).arguments == {"name": fault, "seconds": 0}
    assert order(admin, robot, "clear_fault", {"name": fault}).arguments == {"name": fault}
    assert order(admin, robot, "clear_fault", {"name": "all"}).arguments == {"name": "all"}
