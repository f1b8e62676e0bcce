from datetime import timedelta

import pytest
from django.conf import settings
from django.contrib.auth.hashers import MD5PasswordHasher

from apps.accounts import selectors
from apps.accounts.models import Invitation, Person
from apps.accounts.selectors import find_open_invitation, invitation_link, roles_of
from apps.accounts.services import (
    accept_as_new_person,
    accept_invitation,
    invitations,
    invite_person,
    revoke_invitation,
    revoke_role,
)
from apps.kernel import clock
from apps.kernel.errors import Conflict, Invalid, NotAllowed, NotFound, StepUpNeeded
from apps.kernel.types import Role
from tests.factories.accounts import PASSWORD, client_of, grant, make_person

pytestmark = pytest.mark.django_db
NEW = "new@example.test"


@pytest.fixture
def invite(site, admin, actor_of):
    def make(email=NEW, roles=(Role.VIEWER,), **more):
        asked = {"actor": actor_of(admin), "site_id": site.id, "email": email, "name": "New One", "roles": roles}
        return invite_person(**{**asked, **more})

    return make


def accept(text, **more):
    return accept_as_new_person(**{"link_text": text, "name": "New One", "password": PASSWORD, **more})


def test_an_invited_person_joins_with_the_offered_roles(site, admin, invite, facts):
    made = invite(roles=[Role.VIEWER, Role.REVIEWER])
    assert made.expires_at - clock.now() == pytest.approx(timedelta(hours=72), abs=timedelta(seconds=10))
    person = accept(made.text)
    assert person.email == NEW
    assert person.check_password(PASSWORD)
    assert roles_of(person.id) == {site.id: {Role.VIEWER, Role.REVIEWER}}
    assert {row.granted_by for row in person.grants.all()} == {admin.id}
    assert facts() == ["person_invited", "person_created", "invitation_accepted", "role_granted", "role_granted"]


def test_the_link_stands_under_the_public_address_whatever_the_request_says(invite):
    made = invite()
    assert invitation_link(made.text) == f"{settings.PUBLIC_URL}/invitation/{made.text}/"


def test_only_a_digest_is_kept(invite):
    made = invite()
    row = Invitation.objects.get()
    kept = " ".join(str(value) for value in Invitation.objects.values().get().values())
    assert made.text not in kept
    assert made.text.rpartition("_")[2] not in kept
    assert find_open_invitation(f"phi_{row.prefix}_{bytes(row.digest).hex()[:48]}") is None


def test_the_same_request_twice_makes_one_link_and_shows_it_once(invite, facts):
    first, second = invite(idempotency_key="once"), invite(idempotency_key="once")
    assert first.id == second.id
    assert first.text
    assert second.text is None
    assert facts() == ["person_invited"]


def test_a_link_works_once(invite, refused):
    made = invite()
    accept(made.text)
    with refused(NotFound, "invitation_gone"):
        accept(made.text)


def test_a_link_works_for_72_hours(invite, refused, monkeypatch):
    made = invite()
    later = made.expires_at
    monkeypatch.setattr(clock, "now", lambda: later)
    with refused(NotFound, "invitation_gone"):
        accept(made.text)


def test_a_revoked_link_is_useless(site, admin, invite, actor_of, refused, facts):
    made = invite()
    revoke_invitation(actor=actor_of(admin), site_id=site.id, invitation_id=made.id, idempotency_key="once")
    revoke_invitation(actor=actor_of(admin), site_id=site.id, invitation_id=made.id, idempotency_key="once")
    assert facts() == ["person_invited", "invitation_revoked"]
    with refused(NotFound, "invitation_gone"):
        accept(made.text)
    with refused(Conflict, "invitation_spent"):
        revoke_invitation(actor=actor_of(admin), site_id=site.id, invitation_id=made.id)


@pytest.mark.parametrize("text", ["", "phi_", "phi_000000000000_" + "0" * 48, "pht_000000000000_" + "0" * 48])
def test_a_made_up_link(text, refused):
    with refused(NotFound, "invitation_gone"):
        accept(text)


def test_an_outsider_learns_nothing(site, outsider, invite, actor_of, refused):
    with refused(NotFound):
        invite(actor=actor_of(outsider))
    made = invite()
    with refused(NotFound):
        revoke_invitation(actor=actor_of(outsider), site_id=site.id, invitation_id=made.id)


def test_an_admin_of_another_site_cannot_revoke_by_id(other_site, outsider, invite, actor_of, refused):
    made = invite()
    with refused(NotFound):
        revoke_invitation(actor=actor_of(outsider), site_id=other_site.id, invitation_id=made.id)


@pytest.mark.parametrize("role", [role for role in Role if role is not Role.ADMIN])
def test_only_an_admin_invites(role, site, invite, actor_of, refused):
    member = grant(make_person(), site, role)
    with refused(NotAllowed):
        invite(actor=actor_of(member))


def test_an_old_proof_is_not_enough(admin, invite, actor_of, refused):
    with refused(StepUpNeeded):
        invite(actor=actor_of(admin, proved=False))


@pytest.mark.parametrize(
    ("wrong", "field"),
    [
        ({"email": "nobody"}, "email"),
        ({"email": "a b@example.test"}, "email"),
        ({"name": " "}, "name"),
        ({"name": "x" * 101}, "name"),
        ({"name": "a\x00b"}, "name"),
        ({"roles": []}, "roles"),
    ],
)
def test_bad_input(wrong, field, invite, refused):
    with refused(Invalid) as caught:
        invite(**wrong)
    assert list(caught.value.fields) == [field]


def test_a_weak_password(invite, refused):
    made = invite()
    with refused(Invalid) as caught:
        accept(made.text, password="password")
    assert list(caught.value.fields) == ["password"]


def test_nobody_invites_themselves(admin, invite, refused):
    with refused(NotAllowed, "self_grant"):
        invite(email=admin.email.upper())


def test_an_invitation_falls_with_its_inviter(site, admin, invite, actor_of, refused):
    made = invite()
    other = grant(make_person(), site, Role.ADMIN)
    revoke_role(actor=actor_of(other), site_id=site.id, person_id=admin.id, role=Role.ADMIN)
    with refused(Conflict, "inviter_gone"):
        accept(made.text)


class TestAnAddressThatIsKnownElsewhere:
    def test_looks_the_same_to_the_admin_who_invites_it(self, site, admin, outsider, invite):
        known, unknown = invite(email=outsider.email), invite()
        assert {type(getattr(known, name)) for name in ("id", "expires_at", "text")} == {
            type(getattr(unknown, name)) for name in ("id", "expires_at", "text")
        }
        page = client_of(admin).get("/sites/hall-a/people/").content.decode()
        assert [row.name for row in selectors.open_invitations(site.id)] == ["New One", "New One"]
        assert outsider.name not in page
        assert str(outsider.id) not in page

    def test_looks_the_same_to_a_stranger_with_the_link(self, outsider, invite):
        pages = []
        for email in (outsider.email, NEW):
            made = invite(email=email)
            browser = client_of(None)
            shown = browser.get(f"/invitation/{made.text}/")
            weak = browser.post(f"/invitation/{made.text}/", {"name": "X", "password": "weak"})
            done = browser.post(f"/invitation/{made.text}/", {"name": "X", "password": PASSWORD})
            pages.append(
                [(answer.status_code, answer.get("Location", "").replace(made.text, "LINK")) for answer in (shown, weak, done)]
            )
        assert pages[0] == pages[1] == [(200, ""), (422, ""), (302, "/account/login/?next=%2Finvitation%2FLINK%2F")]

    def test_keeps_its_password_and_joins_by_signing_in(self, site, other_site, outsider, invite, actor_of, facts):
        made = invite(email=outsider.email)
        assert accept(made.text, password="another good one 77") is None
        outsider.refresh_from_db()
        assert outsider.check_password(PASSWORD)
        assert site.id not in roles_of(outsider.id)
        accept_invitation(actor=actor_of(outsider), link_text=made.text, idempotency_key="once")
        accept_invitation(actor=actor_of(outsider), link_text=made.text, idempotency_key="once")
        assert roles_of(outsider.id)[site.id] == {Role.VIEWER}
        assert facts() == ["person_invited", "invitation_accepted", "role_granted"]

    def test_a_key_used_for_one_link_is_refused_for_another(self, viewer, invite, actor_of, refused):
        first, second = invite(email=viewer.email), invite(email=viewer.email, roles=[Role.REVIEWER])
        accept_invitation(actor=actor_of(viewer), link_text=first.text, idempotency_key="once")
        for text in (second.text, "phi_nonsense"):
            with refused(Conflict, "key_reused"):
                accept_invitation(actor=actor_of(viewer), link_text=text, idempotency_key="once")

    def test_is_not_taken_by_somebody_else_who_is_signed_in(self, viewer, outsider, invite, actor_of, refused):
        made = invite(email=outsider.email)
        with refused(Conflict, "other_address"):
            accept_invitation(actor=actor_of(viewer), link_text=made.text)

    def test_roles_held_already_stay(self, site, viewer, invite, actor_of, facts):
        made = invite(email=viewer.email, roles=[Role.VIEWER, Role.OPERATOR])
        accept_invitation(actor=actor_of(viewer), link_text=made.text)
        assert roles_of(viewer.id)[site.id] == {Role.VIEWER, Role.OPERATOR}
        assert facts() == ["person_invited", "invitation_accepted", "role_granted"]


@pytest.mark.parametrize("known", [True, False])
def test_the_site_is_not_locked_while_a_password_is_hashed(known, outsider, invite, monkeypatch):
    """Whoever holds a link could keep every change of the site waiting behind one slow hash after another."""
    done = []
    encode, lock = MD5PasswordHasher.encode, invitations.lock_site
    monkeypatch.setattr(MD5PasswordHasher, "encode", lambda *given: done.append("hash") or encode(*given))
    made = invite(email=outsider.email if known else NEW)
    monkeypatch.setattr(invitations, "lock_site", lambda site_id: done.append("lock") or lock(site_id))
    accept(made.text)
    assert done == ["hash", "lock"]


def test_after_signing_in_the_used_link_leads_to_the_site(invite):
    made = invite()
    person = accept(made.text)
    assert client_of(person).get(f"/invitation/{made.text}/")["Location"] == "/sites/hall-a/floor/"
    assert client_of(None).get(f"/invitation/{made.text}/").status_code == 404
    assert Person.objects.filter(email=NEW).count() == 1
    assert selectors.open_invitations(person.grants.get().site_id) == []
