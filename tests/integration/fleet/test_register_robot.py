import pytest

from apps.fleet.models import Robot
from apps.fleet.services import register_robot
from apps.journal.selectors import events_after
from apps.kernel.errors import Conflict, Invalid, NotAllowed, NotFound
from apps.kernel.types import Role
from tests.factories.accounts import make_site


def register(actor, site, name="arm-07", **given):
    return register_robot(actor=actor, site_id=site.id, **{"name": name, "kind": "arm", "is_simulated": True} | given)


def test_a_robot_is_registered(site, admin):
    made = register(admin, site, " arm-07 ")
    assert (made.name, made.kind, made.is_simulated, made.version, made.bridge_id) == ("arm-07", "arm", True, 1, None)
    fact = events_after(f"fleet.robot:{made.id}", 0)[0]
    assert (fact.type, fact.actor_id, fact.payload["registered_by"]) == ("fleet.robot_registered", admin.id, str(admin.id))


def test_repeating_it_does_nothing_more(site, admin):
    first, again = (register(admin, site, idempotency_key="k") for _ in "12")
    assert first.id == again.id
    assert Robot.objects.count() == 1


@pytest.mark.parametrize(
    ("role", "refusal"), [(role, NotAllowed) for role in Role if role is not Role.ADMIN] + [(None, NotFound)]
)
def test_others_are_refused(site, somebody, refused, role, refusal):
    actor = somebody(role)
    with refused(refusal):
        register(actor, site)


def test_a_name_is_taken_once_at_a_site(site, admin, refused):
    register(admin, site)
    with refused(Conflict, "name_taken"):
        register(admin, site)


@pytest.mark.parametrize("name", ["", "  ", "x" * 101, "a\x00b", "a\nb", "a\u202eb"])
def test_bad_names_are_refused(site, admin, refused, name):
    with refused(Invalid) as caught:
        register(admin, site, name)
    assert set(caught.value.fields) == {"name"}


def test_a_simulated_site_has_only_simulated_robots(site, admin, refused):
    with refused(Invalid) as caught:
        register(admin, site, is_simulated=False)
    assert set(caught.value.fields) == {"is_simulated"}


def test_a_real_site_may_have_a_simulated_robot(db):
    from tests.factories.fleet import make_robot

    assert make_robot(make_site(), is_simulated=True).is_simulated
