from apps.kernel.permissions import can
from apps.kernel.types import Role


def test_the_cast_holds_one_role_each_and_the_outsider_none_here(site, admin, viewer, outsider, actor_of):
    assert actor_of(admin).roles == {site.id: {Role.ADMIN}}
    assert actor_of(viewer).roles == {site.id: {Role.VIEWER}}
    assert site.id not in actor_of(outsider).roles


def test_a_proof_is_given_only_where_asked_for(site, admin, actor_of, client_of):
    assert can(actor_of(admin), "accounts.manage_people", site)
    assert not can(actor_of(admin, proved=False), "accounts.manage_people", site)
    assert client_of(admin).get("/").status_code == 302


def test_every_member_of_the_cast(
    site, viewer, operator, teleoperator, floor_operator, reviewer, skill_author, approver, admin, auditor, actor_of
):
    cast = (viewer, operator, teleoperator, floor_operator, reviewer, skill_author, approver, admin, auditor)
    assert [actor_of(person).roles_at(site.id) for person in cast] == [{role} for role in Role]
