import pytest

from apps.fleet.models import Robot
from apps.fleet.services import release_robot
from apps.kernel.errors import Conflict, NotAllowed, NotFound, Stale
from apps.kernel.ids import new_id
from apps.kernel.types import Role
from tests.factories.accounts import make_site
from tests.factories.fleet import connect, facts_of, machine_for, make_robot, take
from workers.protocol import NeedsReset


def release(actor, robot, **given):
    return release_robot(actor=actor, site_id=robot.site_id, robot_id=robot.id, **given)


def test_the_next_bridge_gets_a_released_robot_and_the_old_one_says_nothing_more(site, robot, machine, claim, boot, admin):
    other = machine_for(site, [robot], "new")
    assert connect(other, [robot]).accepted == ()
    freed = release(admin, robot, expected=2)
    assert (freed.bridge_id, freed.contested_by_id, freed.version) == (None, None, 3)
    assert connect(other, [robot]).accepted == (robot.id,)
    assert take(machine, claim, facts_of(boot, robot, NeedsReset(reason="mine"))) == 1
    assert Robot.objects.get(id=robot.id).needs_reset == ""


def test_repeating_it_does_nothing_more(robot, claim, admin):
    versions = [release(admin, robot, idempotency_key="k").version for _ in "12"]
    assert versions == [3, 3]


@pytest.mark.parametrize(("role", "refusal"), [(Role.OPERATOR, NotAllowed), (Role.AUDITOR, NotAllowed), (None, NotFound)])
def test_others_are_refused(robot, claim, somebody, refused, role, refusal):
    actor = somebody(role)
    with refused(refusal):
        release(actor, robot)


def test_what_changed_since_the_page_was_shown(robot, claim, admin, refused):
    with refused(Stale):
        release(admin, robot, expected=1)


def test_a_robot_without_bridge(robot, admin, refused):
    with refused(Conflict, "not_bound"):
        release(admin, robot)


def test_a_robot_of_another_site(site, robot, claim, admin, refused):
    theirs = make_robot(make_site())
    for robot_id in (theirs.id, new_id()):
        with refused(NotFound):
            release_robot(actor=admin, site_id=site.id, robot_id=robot_id)
