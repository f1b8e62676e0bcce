from dataclasses import replace

import pytest

from apps.accounts.models import Person
from apps.accounts.selectors import people_active, roles_of
from apps.accounts.services import create_person, deactivate_person, reactivate_person
from apps.kernel.errors import Conflict, Invalid, NotAllowed, NotFound, StepUpNeeded
from apps.kernel.ids import new_id
from apps.kernel.types import Role, system_actor
from tests.factories.accounts import PASSWORD, grant, make_person

pytestmark = pytest.mark.django_db
CONSOLE = system_actor("test")


def test_nothing_of_somebody_switched_off_works(site, viewer, client_of, facts):
    browser = client_of(viewer)
    deactivate_person(actor=CONSOLE, person_id=viewer.id, idempotency_key="once")
    deactivate_person(actor=CONSOLE, person_id=viewer.id, idempotency_key="once")
    assert browser.get("/sites/hall-a/floor/")["Location"].startswith("/account/login/")
    assert roles_of(viewer.id) == {}
    assert people_active([viewer.id]) == set()
    assert facts() == ["person_deactivated"]


def test_switching_on_again_brings_the_roles_back(site, viewer, facts):
    deactivate_person(actor=CONSOLE, person_id=viewer.id)
    reactivate_person(actor=CONSOLE, person_id=viewer.id)
    assert roles_of(viewer.id) == {site.id: {Role.VIEWER}}
    assert facts() == ["person_deactivated", "person_reactivated"]


def test_the_last_admin_of_any_site_stays(site, admin, refused):
    with refused(Conflict, "last_admin"):
        deactivate_person(actor=CONSOLE, person_id=admin.id)
    grant(make_person(), site, Role.ADMIN)
    assert not deactivate_person(actor=CONSOLE, person_id=admin.id).is_active


@pytest.mark.parametrize("role", Role)
def test_no_role_at_a_site_reaches_it(role, site, viewer, actor_of, refused):
    actor = actor_of(grant(make_person(), site, role))
    with refused(NotAllowed):
        deactivate_person(actor=actor, person_id=viewer.id)


def test_staff_with_a_fresh_proof_may(viewer, admin, actor_of, refused):
    staff = replace(actor_of(admin), is_staff=True)
    with refused(StepUpNeeded):
        deactivate_person(actor=replace(staff, proved_at=None), person_id=viewer.id)
    assert not deactivate_person(actor=staff, person_id=viewer.id).is_active


def test_twice_or_nobody(viewer, refused):
    with refused(Conflict, "person_active"):
        reactivate_person(actor=CONSOLE, person_id=viewer.id)
    deactivate_person(actor=CONSOLE, person_id=viewer.id)
    with refused(Conflict, "person_inactive"):
        deactivate_person(actor=CONSOLE, person_id=viewer.id)
    with refused(NotFound):
        deactivate_person(actor=CONSOLE, person_id=new_id())


class TestCreatePerson:
    def test_the_console_makes_one(self, db, facts):
        act = {"actor": CONSOLE, "email": " New@Example.test ", "name": "New", "password": PASSWORD}
        person = create_person(**act, idempotency_key="once")
        assert create_person(**act, idempotency_key="once").id == person.id
        assert (person.email, person.check_password(PASSWORD), person.is_staff) == ("new@example.test", True, False)
        assert facts() == ["person_created"]

    def test_without_a_password_nobody_signs_in(self, db):
        assert not create_person(actor=CONSOLE, email="a@example.test", name="A").has_usable_password()

    def test_a_known_address(self, viewer, refused):
        with refused(Conflict, "email_taken"):
            create_person(actor=CONSOLE, email=viewer.email, name="Twin")

    def test_nobody_else_may(self, site, admin, actor_of, refused):
        with refused(NotFound):
            create_person(actor=actor_of(admin), email="a@example.test", name="A")

    @pytest.mark.parametrize("wrong", [{"email": "a"}, {"name": ""}, {"password": "short"}])
    def test_bad_input(self, wrong, db, refused):
        with refused(Invalid):
            create_person(**{"actor": CONSOLE, "email": "a@example.test", "name": "A", **wrong})


def test_nobody_is_made_behind_the_journals_back(db, refused):
    with refused(RuntimeError):
        Person.objects.create_superuser("root@example.test", PASSWORD, name="Root")
