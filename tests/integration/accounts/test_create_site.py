import pytest

from apps.accounts.models import Site
from apps.accounts.selectors import roles_of
from apps.accounts.services import change_site_settings, create_site
from apps.kernel.errors import Conflict, Invalid, NotAllowed, NotFound, Stale, StepUpNeeded
from apps.kernel.types import Role, system_actor
from tests.factories.accounts import grant, make_person

pytestmark = pytest.mark.django_db


def test_whoever_makes_a_site_is_its_admin(admin, actor_of, facts):
    site = create_site(actor=actor_of(admin), slug="lab-2", name="Lab 2", time_zone="Europe/Paris")
    assert (site.slug, site.name, site.time_zone, site.is_simulated, site.version) == (
        "lab-2",
        "Lab 2",
        "Europe/Paris",
        False,
        1,
    )
    assert roles_of(admin.id)[site.id] == {Role.ADMIN}
    assert facts() == ["site_created", "role_granted"]


def test_the_console_may_make_a_simulated_one(db, facts):
    assert create_site(actor=system_actor("seed"), slug="sim", name="Sim", is_simulated=True).is_simulated
    assert facts() == ["site_created"]


def test_a_person_may_not(admin, actor_of, refused):
    with refused(NotAllowed):
        create_site(actor=actor_of(admin), slug="sim", name="Sim", is_simulated=True)


def test_the_same_request_twice_makes_one_site(admin, actor_of, facts):
    act = {"actor": actor_of(admin), "slug": "lab-2", "name": "Lab 2", "idempotency_key": "once"}
    assert create_site(**act).id == create_site(**act).id
    assert facts() == ["site_created", "role_granted"]


@pytest.mark.parametrize("role", [role for role in Role if role is not Role.ADMIN])
def test_only_an_admin_of_some_site_makes_one(role, site, actor_of, refused):
    member = grant(make_person(), site, role)
    with refused(NotAllowed):
        create_site(actor=actor_of(member), slug="lab-2", name="Lab 2")


def test_an_old_proof_is_not_enough(admin, actor_of, refused):
    with refused(StepUpNeeded):
        create_site(actor=actor_of(admin, proved=False), slug="lab-2", name="Lab 2")


def test_a_taken_short_name(site, admin, actor_of, refused):
    with refused(Conflict, "slug_taken"):
        create_site(actor=actor_of(admin), slug="hall-a", name="Another")


@pytest.mark.parametrize(
    ("wrong", "field"),
    [
        ({"slug": "New Lab"}, "slug"),
        ({"slug": "new"}, "slug"),
        ({"slug": "-a"}, "slug"),
        ({"slug": "a" * 51}, "slug"),
        ({"name": ""}, "name"),
        ({"time_zone": "Mars/Base"}, "time_zone"),
        ({"time_zone": "../etc/passwd"}, "time_zone"),
    ],
)
def test_bad_input(wrong, field, admin, actor_of, refused):
    with refused(Invalid) as caught:
        create_site(**{"actor": actor_of(admin), "slug": "lab-2", "name": "Lab 2", **wrong})
    assert list(caught.value.fields) == [field]


class TestSettings:
    def test_change(self, site, admin, actor_of, facts):
        act = {"actor": actor_of(admin), "site_id": site.id, "name": "Hall One", "time_zone": "Asia/Tokyo", "expected": 1}
        changed = change_site_settings(**act, idempotency_key="once")
        assert (changed.name, changed.time_zone, changed.version) == ("Hall One", "Asia/Tokyo", 2)
        assert change_site_settings(**act, idempotency_key="once").version == 2
        assert facts() == ["site_settings_changed"]

    def test_nothing_to_change_is_no_fact(self, site, admin, actor_of, facts):
        change_site_settings(actor=actor_of(admin), site_id=site.id, name=site.name, time_zone=site.time_zone)
        assert facts() == []

    def test_stale(self, site, admin, actor_of, refused):
        change_site_settings(actor=actor_of(admin), site_id=site.id, name="One", time_zone="UTC", expected=1)
        with refused(Stale):
            change_site_settings(actor=actor_of(admin), site_id=site.id, name="Two", time_zone="UTC", expected=1)

    def test_outsider(self, site, outsider, actor_of, refused):
        with refused(NotFound):
            change_site_settings(actor=actor_of(outsider), site_id=site.id, name="One", time_zone="UTC")

    @pytest.mark.parametrize("role", [role for role in Role if role is not Role.ADMIN])
    def test_wrong_role(self, role, site, actor_of, refused):
        actor = actor_of(grant(make_person(), site, role))
        with refused(NotAllowed):
            change_site_settings(actor=actor, site_id=site.id, name="One", time_zone="UTC")

    def test_bad_input(self, site, admin, actor_of, refused):
        with refused(Invalid):
            change_site_settings(actor=actor_of(admin), site_id=site.id, name="", time_zone="UTC")
        assert Site.objects.get(id=site.id).name == "Hall A"
