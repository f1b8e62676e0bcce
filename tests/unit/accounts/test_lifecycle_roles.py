from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from apps.accounts.events import InvitationAccepted, RoleGranted, RoleRevoked
from apps.accounts.lifecycle import (
    SiteRoles,
    decide_acceptance,
    decide_deactivation,
    decide_grant,
    decide_reactivation,
    decide_revoke,
    expiry,
)
from apps.accounts.types import Member
from apps.kernel.errors import Conflict, Invalid, NotAllowed, NotFound, Stale
from apps.kernel.ids import new_id
from apps.kernel.types import Role

NOW = datetime(2026, 1, 31, 9, 30, tzinfo=UTC)
ADMIN, OTHER, PERSON, SITE, GRANT = (new_id() for _ in range(5))
PLACE = SiteRoles(SITE, frozenset({ADMIN, OTHER}))
MEMBER = Member(PERSON, "P", "p@example.test", is_active=True, is_scripted=False, roles=frozenset({Role.VIEWER}))


def grant(member=MEMBER, role=Role.OPERATOR, site=PLACE, by=ADMIN, seen=None):
    return decide_grant(site, member, role, granted_by=by, grant_id=GRANT, now=NOW, roles_seen=seen)


def test_a_grant():
    assert grant() == [
        RoleGranted(grant_id=GRANT, person_id=PERSON, site_id=SITE, role="operator", granted_by=ADMIN, granted_at=NOW)
    ]
    assert grant(seen=frozenset({Role.VIEWER})) == grant() == grant(by=ADMIN)
    assert grant(by=None)[0].granted_by is None


@pytest.mark.parametrize("role", Role)
def test_a_program_may_hold_every_role_but_one(role):
    program = replace(MEMBER, is_scripted=True, roles=frozenset())
    if role is Role.APPROVER:
        with pytest.raises(NotAllowed):
            grant(program, role)
        assert grant(program, role, replace(PLACE, is_simulated=True))
    else:
        assert grant(program, role)


@pytest.mark.parametrize(
    ("change", "refusal", "code"),
    [
        ({"by": PERSON}, NotAllowed, "self_grant"),
        ({"seen": frozenset()}, Stale, "stale"),
        ({"seen": frozenset({Role.VIEWER, Role.ADMIN})}, Stale, "stale"),
        ({"role": Role.VIEWER}, Conflict, "role_held"),
        ({"member": replace(MEMBER, is_active=False)}, Conflict, "person_inactive"),
    ],
)
def test_a_refused_grant(change, refusal, code):
    with pytest.raises(refusal) as caught:
        grant(**change)
    assert caught.value.code == code


def admin(person_id, **more):
    return replace(MEMBER, id=person_id, roles=frozenset({Role.ADMIN, Role.VIEWER}), **more)


@pytest.mark.parametrize(
    ("admins", "member", "allowed"),
    [
        ({ADMIN, OTHER}, admin(ADMIN), True),
        ({ADMIN}, admin(ADMIN), False),
        ({OTHER}, admin(ADMIN, is_active=False), True),
        (set(), admin(ADMIN, is_active=False), True),
        (set(), admin(ADMIN, is_scripted=True), True),
    ],
)
def test_an_admin_goes_only_where_one_stays_or_none_was(admins, member, allowed):
    site = SiteRoles(SITE, frozenset(admins))
    if allowed:
        facts = decide_revoke(site, member, {Role.ADMIN})
        assert facts == [RoleRevoked(person_id=ADMIN, site_id=SITE, role="admin")]
    else:
        with pytest.raises(Conflict) as caught:
            decide_revoke(site, member, {Role.ADMIN})
        assert caught.value.code == "last_admin"
    assert decide_revoke(site, member, {Role.VIEWER})


def test_refused_revokes():
    with pytest.raises(Conflict) as caught:
        decide_revoke(PLACE, MEMBER, {Role.ADMIN})
    assert caught.value.code == "role_not_held"
    with pytest.raises(Stale):
        decide_revoke(PLACE, MEMBER, {Role.VIEWER}, roles_seen=frozenset({Role.ADMIN}))


def accept(member=MEMBER, **more):
    asked = {
        "invitation_id": SITE,
        "invited_email": MEMBER.email,
        "invited_roles": [Role.VIEWER, Role.OPERATOR],
        "invited_by": ADMIN,
        "site": PLACE,
        "member": member,
        "grant_ids": [GRANT, new_id()],
        "now": NOW,
    }
    return decide_acceptance(**{**asked, **more})


def test_accepting_gives_what_is_not_held():
    assert accept() == [InvitationAccepted(invitation_id=SITE, person_id=PERSON, accepted_at=NOW), *grant()]
    assert len(accept(replace(MEMBER, roles=frozenset()))) == 3
    assert accept(invited_by=None, invited_roles=[])


@pytest.mark.parametrize(
    ("change", "refusal"),
    [
        ({"invited_email": "other@example.test"}, Conflict),
        ({"invited_by": new_id()}, Conflict),
        ({"member": replace(MEMBER, is_active=False)}, NotFound),
        ({"member": replace(MEMBER, id=ADMIN)}, NotAllowed),
    ],
)
def test_refused_acceptance(change, refusal):
    with pytest.raises(refusal):
        accept(**change)


def test_switching_off_and_on():
    assert decide_deactivation(person_id=PERSON, is_active=True, left_without_admin=[])
    assert decide_reactivation(person_id=PERSON, is_active=False)
    for refused in (
        lambda: decide_deactivation(person_id=PERSON, is_active=False, left_without_admin=[]),
        lambda: decide_deactivation(person_id=PERSON, is_active=True, left_without_admin=["Hall A"]),
        lambda: decide_reactivation(person_id=PERSON, is_active=True),
    ):
        with pytest.raises(Conflict):
            refused()


@pytest.mark.parametrize(("days", "allowed"), [(-1, False), (0, False), (1, True), (365, True), (366, False)])
def test_expiry(days, allowed):
    if allowed:
        assert expiry(days, 365, NOW) == NOW + timedelta(days=days)
    else:
        with pytest.raises(Invalid):
            expiry(days, 365, NOW)
