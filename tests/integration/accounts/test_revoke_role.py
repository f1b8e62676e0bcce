import threading

import pytest
from django.db import connection

from apps.accounts.selectors import find_member, roles_of
from apps.accounts.services import remove_person, revoke_role
from apps.kernel.errors import Conflict, NotAllowed, NotFound, Stale, StepUpNeeded
from apps.kernel.types import Role
from tests.factories.accounts import grant, make_person, make_site

pytestmark = pytest.mark.django_db


def test_a_revoked_role_is_gone_at_the_next_request(site, admin, viewer, actor_of, client_of, facts):
    browser = client_of(viewer)
    assert browser.get("/sites/hall-a/floor/").status_code == 200
    assert revoke_role(actor=actor_of(admin), site_id=site.id, person_id=viewer.id, role=Role.VIEWER) is None
    assert browser.get("/sites/hall-a/floor/").status_code == 404
    assert facts() == ["role_revoked"]


def test_the_other_roles_stay(site, admin, viewer, actor_of):
    grant(viewer, site, Role.REVIEWER)
    left = revoke_role(actor=actor_of(admin), site_id=site.id, person_id=viewer.id, role=Role.VIEWER)
    assert left.roles == {Role.REVIEWER}


def test_the_same_request_twice_revokes_once(site, admin, viewer, actor_of, facts):
    act = {"actor": actor_of(admin), "site_id": site.id, "person_id": viewer.id, "role": Role.VIEWER}
    assert revoke_role(**act, idempotency_key="once") is None
    assert revoke_role(**act, idempotency_key="once") is None
    assert facts() == ["role_revoked"]


def test_an_outsider_learns_nothing(site, outsider, viewer, actor_of, refused):
    with refused(NotFound):
        revoke_role(actor=actor_of(outsider), site_id=site.id, person_id=viewer.id, role=Role.VIEWER)


@pytest.mark.parametrize("role", [role for role in Role if role is not Role.ADMIN])
def test_only_an_admin_revokes(role, site, viewer, actor_of, refused):
    member = grant(make_person(), site, role)
    with refused(NotAllowed):
        revoke_role(actor=actor_of(member), site_id=site.id, person_id=viewer.id, role=Role.VIEWER)


def test_an_old_proof_is_not_enough(site, admin, viewer, actor_of, refused):
    with refused(StepUpNeeded):
        revoke_role(actor=actor_of(admin, proved=False), site_id=site.id, person_id=viewer.id, role=Role.VIEWER)


def test_what_changed_since_the_page_was_shown(site, admin, viewer, actor_of, refused):
    with refused(Stale):
        revoke_role(
            actor=actor_of(admin),
            site_id=site.id,
            person_id=viewer.id,
            role=Role.VIEWER,
            roles_seen=[Role.VIEWER, Role.OPERATOR],
        )


def test_a_role_not_held(site, admin, viewer, actor_of, refused):
    with refused(Conflict, "role_not_held"):
        revoke_role(actor=actor_of(admin), site_id=site.id, person_id=viewer.id, role=Role.OPERATOR)


def test_somebody_of_another_site_is_nobody_here(site, admin, outsider, actor_of, refused):
    with refused(NotFound):
        revoke_role(actor=actor_of(admin), site_id=site.id, person_id=outsider.id, role=Role.VIEWER)


def test_the_last_admin_stays(site, admin, actor_of, refused):
    with refused(Conflict, "last_admin"):
        revoke_role(actor=actor_of(admin), site_id=site.id, person_id=admin.id, role=Role.ADMIN)
    with refused(Conflict, "last_admin"):
        remove_person(actor=actor_of(admin), site_id=site.id, person_id=admin.id)


@pytest.mark.parametrize("other", [{"is_active": False}, {"is_scripted": True}], ids=["switched off", "program"])
def test_an_admin_who_cannot_manage_does_not_count(other, site, admin, actor_of, refused):
    grant(make_person(**other), site, Role.ADMIN)
    with refused(Conflict, "last_admin"):
        revoke_role(actor=actor_of(admin), site_id=site.id, person_id=admin.id, role=Role.ADMIN)


def test_an_admin_of_another_site_does_not_count(site, admin, actor_of, refused):
    grant(make_person(), make_site(), Role.ADMIN)
    with refused(Conflict, "last_admin"):
        revoke_role(actor=actor_of(admin), site_id=site.id, person_id=admin.id, role=Role.ADMIN)


def test_an_admin_may_leave_where_there_is_another(site, admin, actor_of):
    grant(make_person(), site, Role.ADMIN)
    assert revoke_role(actor=actor_of(admin), site_id=site.id, person_id=admin.id, role=Role.ADMIN) is None


def test_removing_takes_every_role_here_and_none_elsewhere(site, other_site, admin, viewer, actor_of, facts):
    grant(viewer, site, Role.REVIEWER)
    grant(viewer, other_site, Role.VIEWER)
    remove_person(actor=actor_of(admin), site_id=site.id, person_id=viewer.id)
    assert find_member(site.id, viewer.id) is None
    assert roles_of(viewer.id) == {other_site.id: {Role.VIEWER}}
    assert facts() == ["role_revoked", "role_revoked"]


@pytest.mark.django_db(transaction=True)
def test_two_admins_who_remove_each_other_leave_one():
    site = make_site("race")
    pair = [grant(make_person(), site, Role.ADMIN) for _ in range(2)]
    from tests.factories.accounts import actor_of

    actors = [actor_of(person) for person in pair]
    start, outcomes = threading.Barrier(2), []

    def remove(actor, person):
        try:
            start.wait(timeout=10)
            revoke_role(actor=actor, site_id=site.id, person_id=person.id, role=Role.ADMIN)
            outcomes.append("done")
        except Conflict as refusal:
            outcomes.append(refusal.code)
        finally:
            connection.close()

    threads = [
        threading.Thread(target=remove, args=(actors[0], pair[1])),
        threading.Thread(target=remove, args=(actors[1], pair[0])),
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=30)
    assert sorted(outcomes) == ["done", "last_admin"]
