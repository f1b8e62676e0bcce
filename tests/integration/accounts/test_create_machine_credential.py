from datetime import timedelta

import pytest

from apps.accounts.models import MachineCredential
from apps.accounts.selectors import machines_holding, verify_machine
from apps.accounts.services import create_machine_credential, note_machine_use, revoke_machine_credential
from apps.kernel import clock
from apps.kernel.errors import Conflict, Invalid, NotAllowed, NotFound, NotSignedIn, StepUpNeeded
from apps.kernel.ids import new_id
from apps.kernel.permissions import can
from apps.kernel.types import ActorKind, Role
from tests.factories.accounts import grant, make_person

pytestmark = pytest.mark.django_db
ROBOTS = [f"robot:{new_id()}" for _ in range(2)]


@pytest.fixture
def make(site, admin, actor_of):
    def make_credential(**more):
        asked = {"actor": actor_of(admin), "site_id": site.id, "name": "bridge 1", "subjects": ROBOTS}
        return create_machine_credential(**{**asked, **more})

    return make_credential


def refused_machine(text, code):
    with pytest.raises(NotSignedIn) as caught:
        verify_machine(text)
    assert caught.value.code == code


def test_a_credential_is_bound_to_its_site_name_and_subjects(site, make, facts):
    made = make()
    found = verify_machine(made.text)
    assert (found.actor.kind, found.actor.name, found.site_id) == (ActorKind.MACHINE, "bridge 1", site.id)
    assert list(found.subjects) == sorted(ROBOTS)
    assert found.actor.roles == {}
    assert facts() == ["machine_credential_created"]


def test_a_machine_sees_and_approves_nothing(site, make):
    actor = verify_machine(make().text).actor
    assert not can(actor, "accounts.view_site", site)
    assert not can(actor, "accounts.manage_people", site)


def test_the_same_request_twice_makes_one_credential_and_shows_it_once(make, facts):
    first, second = make(idempotency_key="once"), make(idempotency_key="once")
    assert first.id == second.id
    assert second.text is None
    assert facts() == ["machine_credential_created"]


def test_stolen_from_a_dump_it_is_useless(make):
    made = make()
    row = MachineCredential.objects.get()
    assert made.text.rpartition("_")[2] not in str(MachineCredential.objects.values().get())
    refused_machine(f"phm_{row.prefix}_{bytes(row.digest).hex()[:48]}", "machine_unknown")
    refused_machine(made.text.replace("phm", "pht"), "machine_unknown")


def test_a_credential_ends(make, monkeypatch):
    made = make(days=1)
    assert machines_holding([made.id]) == {made.id}
    monkeypatch.setattr(clock, "now", lambda: made.expires_at)
    refused_machine(made.text, "machine_expired")
    assert machines_holding([made.id]) == set()


def test_a_revoked_credential_is_refused(site, admin, make, actor_of, refused, facts):
    made = make()
    act = {"actor": actor_of(admin, proved=False), "site_id": site.id, "credential_id": made.id}
    revoke_machine_credential(**act, idempotency_key="once")
    revoke_machine_credential(**act, idempotency_key="once")
    assert facts() == ["machine_credential_created", "machine_credential_revoked"]
    refused_machine(made.text, "machine_revoked")
    assert machines_holding([made.id]) == set()
    with refused(Conflict, "revoked"):
        revoke_machine_credential(**act)


def test_a_name_serves_one_machine_at_a_time(site, admin, make, actor_of, refused):
    made = make()
    with refused(Conflict, "name_taken"):
        make()
    revoke_machine_credential(actor=actor_of(admin), site_id=site.id, credential_id=made.id)
    assert make().id != made.id


def test_an_outsider_learns_nothing(site, other_site, outsider, make, actor_of, refused):
    made = make()
    with refused(NotFound):
        make(actor=actor_of(outsider), name="other")
    for place in (site, other_site):
        with refused(NotFound):
            revoke_machine_credential(actor=actor_of(outsider), site_id=place.id, credential_id=made.id)


@pytest.mark.parametrize("role", [role for role in Role if role is not Role.ADMIN])
def test_only_an_admin_makes_and_revokes(role, site, make, actor_of, refused):
    made = make()
    actor = actor_of(grant(make_person(), site, role))
    with refused(NotAllowed):
        make(actor=actor, name="other")
    with refused(NotAllowed):
        revoke_machine_credential(actor=actor, site_id=site.id, credential_id=made.id)


def test_an_old_proof_is_not_enough(admin, make, actor_of, refused):
    with refused(StepUpNeeded):
        make(actor=actor_of(admin, proved=False))


@pytest.mark.parametrize(
    ("wrong", "field"),
    [
        ({"name": ""}, "name"),
        ({"days": 0}, "days"),
        ({"days": 731}, "days"),
        ({"subjects": ["robot"]}, "subjects"),
        ({"subjects": ["robot:7"]}, "subjects"),
        ({"subjects": [f"Robot:{new_id()}"]}, "subjects"),
        ({"subjects": [f"robot:{new_id()}" for _ in range(1001)]}, "subjects"),
    ],
)
def test_bad_input(wrong, field, make, refused):
    with refused(Invalid) as caught:
        make(**wrong)
    assert list(caught.value.fields) == [field]


def test_use_is_noted_once_a_minute(make, monkeypatch, django_assert_num_queries):
    text = make().text
    start = clock.now()
    note_machine_use(verify_machine(text))
    with django_assert_num_queries(1):
        note_machine_use(verify_machine(text))
    monkeypatch.setattr(clock, "now", lambda: start + timedelta(seconds=61))
    note_machine_use(verify_machine(text))
    assert MachineCredential.objects.get().last_used_at == start + timedelta(seconds=61)
