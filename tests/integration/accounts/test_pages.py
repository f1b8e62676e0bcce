import re

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from apps.accounts.models import ApiToken, Invitation, MachineCredential, Site
from apps.accounts.selectors import preferences_of, roles_of, verify_machine, verify_token
from apps.accounts.services import create_machine_credential, create_token, invite_person
from apps.accounts.types import Display
from apps.kernel.types import Role
from tests.factories.accounts import grant, make_person

pytestmark = pytest.mark.django_db
HTMX = {"HX-Request": "true"}


def at(name, site=None, **more):
    return reverse(f"accounts:{name}", kwargs={**({"site_slug": site.slug} if site else {}), **more})


def secret_in(answer):
    return re.search(r"ph[mtip]_[0-9a-f]{12}_[0-9a-f]{48}", answer.content.decode())


def key_in(answer):
    return re.search(r'name="idempotency_key" value="([^"]+)"', answer.content.decode())[1]


def people(site, admin, actor_of, count):
    for number in range(count):
        grant(make_person(), site, Role.VIEWER, Role.REVIEWER)
        asked = {"email": f"p{number}@example.test", "name": "P", "roles": [Role.VIEWER, Role.OPERATOR]}
        invite_person(actor=actor_of(admin), site_id=site.id, **asked)


def machines(site, admin, actor_of, count):
    for number in range(count):
        create_machine_credential(actor=actor_of(admin), site_id=site.id, name=f"bridge {number}")


def tokens(site, admin, actor_of, count):
    for number in range(count):
        create_token(actor=actor_of(admin), person_id=admin.id, site_id=site.id, role=Role.ADMIN, name=f"t {number}")


@pytest.mark.parametrize("fill", [people, machines, tokens])
@pytest.mark.parametrize("headers", [{}, HTMX], ids=["page", "fragment"])
def test_a_list_costs_the_same_queries_at_3_and_30_rows(
    fill, headers, site, other_site, admin, client_of, actor_of, django_assert_num_queries
):
    grant(admin, other_site, Role.ADMIN)
    browser = client_of(admin)
    name = {people: "site_people", machines: "machine_list", tokens: "token_list"}[fill]
    few, many = (at(name), at(name)) if fill is tokens else (at(name, site), at(name, other_site))
    fill(site, admin, actor_of, 3)
    browser.get(few, headers=headers)  # the first request of a session writes where it comes from
    with CaptureQueriesContext(connection) as at_3:
        assert browser.get(few, headers=headers).status_code == 200
    if fill is people:  # an address is invited to the other site under the same name
        for number in range(30):
            grant(make_person(), other_site, Role.VIEWER, Role.REVIEWER)
            invite_person(
                actor=actor_of(admin), site_id=other_site.id, email=f"p{number}@example.test", name="P", roles=[Role.VIEWER]
            )
    else:
        fill(other_site, admin, actor_of, 30)
    with django_assert_num_queries(len(at_3)):
        assert browser.get(many, headers=headers).status_code == 200


class TestPeople:
    def test_an_admin_grants_and_revokes_from_the_page(self, site, admin, viewer, client_of):
        browser = client_of(admin)
        sent = {"role": "operator", "roles_seen": "viewer", "idempotency_key": key_in(browser.get(at("site_people", site)))}
        answer = browser.post(at("role_grant", site, person_id=viewer.id), sent)
        assert (answer.status_code, answer["Location"]) == (302, at("site_people", site))
        assert roles_of(viewer.id)[site.id] == {Role.VIEWER, Role.OPERATOR}
        assert browser.post(at("role_grant", site, person_id=viewer.id), sent).status_code == 302  # a second click
        answer = browser.post(
            at("role_revoke", site, person_id=viewer.id), {"role": "viewer", "roles_seen": "operator viewer"}, headers=HTMX
        )
        assert answer.status_code == 200
        assert b"<html" not in answer.content
        assert viewer.email.encode() in answer.content
        assert roles_of(viewer.id)[site.id] == {Role.OPERATOR}
        assert browser.post(at("person_remove", site, person_id=viewer.id), {"roles_seen": "operator"}).status_code == 302
        assert roles_of(viewer.id) == {}

    def test_refusals_have_their_status(self, site, admin, viewer, client_of):
        browser = client_of(admin)
        url = at("role_grant", site, person_id=viewer.id)
        assert browser.post(url, {"role": "operator", "roles_seen": "reviewer"}).status_code == 412
        assert browser.post(url, {"role": "viewer"}).status_code == 409
        assert browser.post(url, {"role": "king"}).status_code == 422
        assert browser.post(url, {"role": "operator", "roles_seen": "king"}).status_code == 422
        assert browser.post(at("role_grant", site, person_id=admin.id), {"role": "viewer"}).status_code == 403
        assert roles_of(viewer.id)[site.id] == {Role.VIEWER}

    def test_an_old_proof_leads_to_a_fresh_one(self, site, admin, viewer, client_of):
        answer = client_of(admin, proved=False).post(at("role_grant", site, person_id=viewer.id), {"role": "operator"})
        assert answer.status_code == 302
        assert answer["Location"].startswith(reverse("account_reauthenticate"))

    def test_the_link_is_shown_once_and_not_kept_on_the_way(self, site, admin, client_of):
        browser = client_of(admin)
        form = browser.get(at("person_invite", site))
        sent = {"email": "n@example.test", "name": "N", "roles": ["viewer"], "idempotency_key": key_in(form)}
        answer = browser.post(at("person_invite", site), sent)
        assert answer.status_code == 200
        assert "no-store" in answer["Cache-Control"]
        assert secret_in(answer)
        again = browser.post(at("person_invite", site), sent)
        assert again.status_code == 200
        assert not secret_in(again)
        assert Invitation.objects.count() == 1
        wrong = browser.post(at("person_invite", site), {"email": "n", "name": "N"})
        assert wrong.status_code == 422

    def test_an_auditor_sees_and_changes_nothing(self, site, auditor, viewer, client_of):
        page = client_of(auditor).get(at("site_people", site)).content.decode()
        assert viewer.email in page
        assert "/grant/" not in page
        assert client_of(auditor).post(at("role_grant", site, person_id=viewer.id), {"role": "admin"}).status_code == 403


class TestMachines:
    def test_a_credential_is_made_shown_once_and_revoked(self, site, admin, client_of):
        browser = client_of(admin)
        sent = {"name": "bridge", "days": "30", "subjects": "", "idempotency_key": "k"}
        answer = browser.post(at("machine_create", site), sent)
        assert "no-store" in answer["Cache-Control"]
        found = verify_machine(secret_in(answer)[0])
        assert not secret_in(browser.post(at("machine_create", site), sent))
        assert not secret_in(browser.get(at("machine_list", site)))
        answer = browser.post(at("machine_revoke", site, credential_id=found.credential_id), headers=HTMX)
        assert answer.status_code == 200
        assert MachineCredential.objects.get().revoked_at is not None

    def test_what_is_wrong_stands_at_its_field(self, site, admin, client_of):
        answer = client_of(admin).post(at("machine_create", site), {"name": "b", "days": "30", "subjects": "robot:1"})
        assert answer.status_code == 422
        assert b"Give each as kind:id" in answer.content


class TestTokens:
    def test_a_token_is_made_shown_once_and_revoked(self, site, operator, client_of):
        browser = client_of(operator)
        answer = browser.post(at("token_create"), {"name": "script", "reach": "hall-a operator", "days": "1"})
        assert "no-store" in answer["Cache-Control"]
        token = verify_token(secret_in(answer)[0])
        assert token.actor.roles == {site.id: {Role.OPERATOR}}
        assert not secret_in(browser.get(at("token_list")))
        assert browser.post(at("token_revoke", token_id=token.token_id)).status_code == 302
        assert ApiToken.objects.get().revoked_at is not None

    def test_a_role_not_held_is_no_choice(self, site, operator, client_of):
        answer = client_of(operator).post(at("token_create"), {"name": "script", "reach": "hall-a admin", "days": "1"})
        assert answer.status_code == 422

    def test_the_token_of_somebody_else_is_not_there(self, site, operator, admin, client_of, actor_of):
        made = create_token(actor=actor_of(admin), person_id=admin.id, site_id=site.id, role=Role.ADMIN, name="x")
        assert client_of(operator).post(at("token_revoke", token_id=made.id)).status_code == 404


class TestPreferences:
    def test_a_field_that_is_not_sent_stays(self, viewer, client_of):
        browser = client_of(viewer, proved=False)
        assert browser.post(at("preferences"), {"theme": "dark"}, headers=HTMX).status_code == 200
        assert browser.post(at("preferences"), {"density": "comfortable", "single_keys": "off"}).status_code == 302
        assert preferences_of(viewer.id) == Display("dark", "comfortable", single_keys=False)
        assert browser.post(at("preferences"), {"theme": "pink"}).status_code == 422


class TestSites:
    def test_an_admin_makes_and_renames_a_site(self, site, admin, client_of):
        browser = client_of(admin)
        answer = browser.post(at("site_create"), {"name": "Lab 2", "slug": "lab-2", "time_zone": "UTC", "is_simulated": "on"})
        assert answer["Location"] == "/sites/lab-2/people/"
        made = Site.objects.get(slug="lab-2")
        assert not made.is_simulated
        answer = browser.post(at("site_settings", made), {"name": "Lab Two", "time_zone": "UTC", "expected": "1"})
        assert answer.status_code == 302
        answer = browser.post(at("site_settings", made), {"name": "Lab Three", "time_zone": "UTC", "expected": "1"})
        assert answer.status_code == 412
        assert Site.objects.get(slug="lab-2").name == "Lab Two"
        taken = browser.post(at("site_create"), {"name": "Lab 2", "slug": "lab-2", "time_zone": "UTC"})
        assert taken.status_code == 409
