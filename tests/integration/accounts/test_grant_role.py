import pytest

from apps.accounts.models import RoleGrant
from apps.accounts.selectors import roles_of
from apps.accounts.services import grant_role
from apps.journal.models import Event
from apps.kernel.errors import Conflict, NotAllowed, NotFound, NotSignedIn, Stale, StepUpNeeded
from apps.kernel.ids import new_id
from apps.kernel.types import ANONYMOUS, Actor, ActorKind, Role, system_actor
from tests.factories.accounts import grant, make_person, make_site

pytestmark = pytest.mark.django_db


def test_a_grant_holds_and_is_a_fact(site, admin, viewer, actor_of, facts):
    member = grant_role(actor=actor_of(admin), site_id=site.id, person_id=viewer.id, role=Role.OPERATOR)
    assert member.roles == {Role.VIEWER, Role.OPERATOR}
    assert roles_of(viewer.id) == {site.id: {Role.VIEWER, Role.OPERATOR}}
    assert facts() == ["role_granted"]
    event = Event.objects.latest("position")
    assert (event.stream, event.site_id, event.actor_id) == (f"accounts.site:{site.id}", site.id, admin.id)
    row = RoleGrant.objects.get(person=viewer, role="operator")
    assert event.payload == {
        "grant_id": str(row.id),
        "person_id": str(viewer.id),
        "site_id": str(site.id),
        "role": "operator",
        "granted_by": str(admin.id),
        "granted_at": event.payload["granted_at"],
    }


def test_the_same_request_twice_grants_once(site, admin, viewer, actor_of, facts):
    act = {"actor": actor_of(admin), "site_id": site.id, "person_id": viewer.id, "role": Role.OPERATOR}
    first = grant_role(**act, roles_seen=[Role.VIEWER], idempotency_key="once")
    second = grant_role(**act, roles_seen=[Role.VIEWER], idempotency_key="once")
    assert first == second
    assert facts() == ["role_granted"]


def test_a_key_serves_one_request(site, admin, viewer, actor_of, refused):
    act = {"actor": actor_of(admin), "site_id": site.id, "person_id": viewer.id, "idempotency_key": "once"}
    grant_role(**act, role=Role.OPERATOR)
    with refused(Conflict, "key_reused"):
        grant_role(**act, role=Role.REVIEWER)


def test_an_outsider_learns_nothing(site, outsider, viewer, actor_of, refused):
    with refused(NotFound):
        grant_role(actor=actor_of(outsider), site_id=site.id, person_id=viewer.id, role=Role.OPERATOR)


def test_a_stranger_signs_in_first(site, viewer, refused):
    with refused(NotSignedIn):
        grant_role(actor=ANONYMOUS, site_id=site.id, person_id=viewer.id, role=Role.OPERATOR)


@pytest.mark.parametrize("role", [role for role in Role if role is not Role.ADMIN])
def test_only_an_admin_grants(role, site, viewer, actor_of, refused):
    member = grant(make_person(), site, role)
    with refused(NotAllowed):
        grant_role(actor=actor_of(member), site_id=site.id, person_id=viewer.id, role=Role.OPERATOR)


def test_an_old_proof_is_not_enough(site, admin, viewer, actor_of, refused):
    with refused(StepUpNeeded):
        grant_role(actor=actor_of(admin, proved=False), site_id=site.id, person_id=viewer.id, role=Role.OPERATOR)


def test_a_token_of_an_admin_grants_nothing(site, admin, viewer, refused):
    token = Actor(ActorKind.TOKEN, admin.id, admin.name, {site.id: frozenset({Role.ADMIN})}, token_id=new_id())
    with refused(NotAllowed):
        grant_role(actor=token, site_id=site.id, person_id=viewer.id, role=Role.OPERATOR)


@pytest.mark.parametrize("role", [role for role in Role if role is not Role.ADMIN])
def test_nobody_grants_to_themselves(role, site, admin, actor_of, refused):
    with refused(NotAllowed, "self_grant"):
        grant_role(actor=actor_of(admin), site_id=site.id, person_id=admin.id, role=role)


def test_an_admin_becomes_approver_only_through_another(site, admin, actor_of):
    other = grant(make_person(), site, Role.ADMIN)
    grant_role(actor=actor_of(other), site_id=site.id, person_id=admin.id, role=Role.APPROVER)
    assert roles_of(admin.id)[site.id] == {Role.ADMIN, Role.APPROVER}


def test_what_changed_since_the_page_was_shown(site, admin, viewer, actor_of, refused):
    grant(viewer, site, Role.REVIEWER)
    with refused(Stale):
        grant_role(actor=actor_of(admin), site_id=site.id, person_id=viewer.id, role=Role.OPERATOR, roles_seen=[Role.VIEWER])


def test_a_role_held_already(site, admin, viewer, actor_of, refused):
    with refused(Conflict, "role_held"):
        grant_role(actor=actor_of(admin), site_id=site.id, person_id=viewer.id, role=Role.VIEWER)


def test_a_known_and_an_unknown_person_look_the_same_from_another_site(site, admin, outsider, actor_of, refused):
    with refused(NotFound) as known:
        grant_role(actor=actor_of(admin), site_id=site.id, person_id=outsider.id, role=Role.VIEWER)
    with refused(NotFound) as unknown:
        grant_role(actor=actor_of(admin), site_id=site.id, person_id=new_id(), role=Role.VIEWER)
    assert known.value.message == unknown.value.message


def test_somebody_switched_off_gets_nothing(site, admin, actor_of, refused):
    gone = grant(make_person(is_active=False), site, Role.VIEWER)
    with refused(Conflict, "person_inactive"):
        grant_role(actor=actor_of(admin), site_id=site.id, person_id=gone.id, role=Role.OPERATOR)


def test_a_site_that_does_not_exist(admin, viewer, actor_of, refused):
    with refused(NotFound):
        grant_role(actor=actor_of(admin), site_id=new_id(), person_id=viewer.id, role=Role.OPERATOR)


def test_a_program_is_approver_only_where_all_is_simulated(site, admin, actor_of, refused):
    program = grant(make_person(is_scripted=True), site, Role.VIEWER)
    with refused(NotAllowed, "program_approver"):
        grant_role(actor=actor_of(admin), site_id=site.id, person_id=program.id, role=Role.APPROVER)
    simulated = make_site(is_simulated=True)
    grant_role(actor=system_actor("test"), site_id=simulated.id, person_id=program.id, role=Role.APPROVER)
    assert roles_of(program.id)[simulated.id] == {Role.APPROVER}
