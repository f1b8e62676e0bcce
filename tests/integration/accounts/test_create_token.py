from datetime import timedelta

import pytest

from apps.accounts.models import ApiToken
from apps.accounts.selectors import verify_token
from apps.accounts.services import create_token, deactivate_person, note_token_use, revoke_role, revoke_token
from apps.journal.models import Event
from apps.kernel import clock
from apps.kernel.errors import Conflict, Invalid, NotAllowed, NotFound, NotSignedIn, StepUpNeeded
from apps.kernel.ids import new_id
from apps.kernel.permissions import Verb, can, register
from apps.kernel.types import ActorKind, Role, system_actor
from tests.factories.accounts import grant, make_person

pytestmark = pytest.mark.django_db
register(Verb("tests.approve", "Stands for every act of approval", roles=frozenset({Role.APPROVER}), people_only=True))


@pytest.fixture
def make(site, operator, actor_of):
    def make_token(person=operator, role=Role.OPERATOR, **more):
        asked = {
            "actor": actor_of(person),
            "person_id": person.id,
            "site_id": site.id,
            "role": role,
            "name": "script",
        }
        return create_token(**{**asked, **more})

    return make_token


def refused_token(text, code):
    with pytest.raises(NotSignedIn) as caught:
        verify_token(text)
    assert caught.value.code == code


def test_a_token_acts_as_its_person_in_one_role_at_one_site(site, other_site, operator, make, facts):
    grant(operator, site, Role.REVIEWER)
    grant(operator, other_site, Role.OPERATOR)
    made = make()
    actor = verify_token(made.text).actor
    assert (actor.kind, actor.id, actor.name, actor.proved_at) == (ActorKind.TOKEN, operator.id, operator.name, None)
    assert actor.roles == {site.id: {Role.OPERATOR}}
    assert made.expires_at - clock.now() == pytest.approx(timedelta(days=30), abs=timedelta(seconds=10))
    assert facts() == ["api_token_created"]


def test_viewing_is_part_of_every_role(site, operator, make):
    assert verify_token(make(role=Role.VIEWER).text).actor.roles == {site.id: {Role.VIEWER}}


def test_the_same_request_twice_makes_one_token_and_shows_it_once(make, facts):
    first, second = make(idempotency_key="once"), make(idempotency_key="once")
    assert first.id == second.id
    assert second.text is None
    assert facts() == ["api_token_created"]


def test_stolen_from_a_dump_it_is_useless(make):
    made = make()
    row = ApiToken.objects.get()
    dump = str(ApiToken.objects.values().get()) + str(list(Event.objects.values()))
    assert made.text not in dump
    assert made.text.rpartition("_")[2] not in dump
    digest = bytes(row.digest).hex()
    for text in (digest, digest[:48], f"pht_{row.prefix}_{digest[:48]}", f"pht_{row.prefix}_{digest}", f"pht_{row.prefix}_"):
        refused_token(text, "token_unknown")


def test_one_wrong_character_is_wrong(make):
    text = make().text
    last = "0" if text[-1] != "0" else "1"
    refused_token(text[:-1] + last, "token_unknown")


def test_a_token_ends(make, monkeypatch):
    made = make(days=1)
    verify_token(made.text, now=made.expires_at - timedelta(seconds=1))
    monkeypatch.setattr(clock, "now", lambda: made.expires_at)
    refused_token(made.text, "token_expired")


def test_a_revoked_token_is_refused(operator, make, actor_of, refused, facts):
    made = make()
    revoke_token(actor=actor_of(operator, proved=False), token_id=made.id, idempotency_key="once")
    revoke_token(actor=actor_of(operator, proved=False), token_id=made.id, idempotency_key="once")
    assert facts() == ["api_token_created", "api_token_revoked"]
    refused_token(made.text, "token_revoked")
    with refused(Conflict, "revoked"):
        revoke_token(actor=actor_of(operator), token_id=made.id)


def test_the_token_of_somebody_switched_off_is_refused(operator, make):
    made = make()
    deactivate_person(actor=system_actor("test"), person_id=operator.id)
    refused_token(made.text, "person_inactive")


def test_a_token_loses_what_its_person_loses(site, admin, operator, make, actor_of):
    made = make()
    grant(operator, site, Role.REVIEWER)
    revoke_role(actor=actor_of(admin), site_id=site.id, person_id=operator.id, role=Role.OPERATOR)
    assert verify_token(made.text).actor.roles == {}


def test_an_approvers_token_does_not_approve(site, approver, make, actor_of):
    actor = verify_token(make(person=approver, role=Role.APPROVER).text).actor
    assert can(actor_of(approver), "tests.approve", site)
    assert type(can(actor, "tests.approve", site).refusal) is NotAllowed


def test_an_admins_token_never_steps_up(site, admin, make):
    actor = verify_token(make(person=admin, role=Role.ADMIN).text).actor
    assert type(can(actor, "accounts.manage_people", site).refusal) is NotAllowed
    with pytest.raises(NotAllowed):
        create_token(actor=actor, person_id=admin.id, site_id=site.id, role=Role.ADMIN, name="child")


def test_nobody_makes_or_revokes_tokens_of_others(operator, admin, make, actor_of, refused):
    made = make()
    for actor in (actor_of(admin), verify_token(made.text).actor):
        if actor.id != operator.id:
            with refused(NotFound):
                make(actor=actor)
        with refused(NotFound if actor.id != operator.id else NotAllowed):
            revoke_token(actor=actor, token_id=made.id)


def test_an_old_proof_is_not_enough(operator, make, actor_of, refused):
    with refused(StepUpNeeded):
        make(actor=actor_of(operator, proved=False))


def test_a_role_the_person_lacks(make, refused):
    with refused(NotAllowed, "role_not_held"):
        make(role=Role.ADMIN)


def test_a_site_the_person_does_not_know(other_site, make, refused):
    for site_id in (other_site.id, new_id()):
        with refused(NotFound):
            make(site_id=site_id)


@pytest.mark.parametrize(("wrong", "field"), [({"days": 0}, "days"), ({"days": 366}, "days"), ({"name": ""}, "name")])
def test_bad_input(wrong, field, make, refused):
    with refused(Invalid) as caught:
        make(**wrong)
    assert list(caught.value.fields) == [field]


def test_there_is_an_end_to_how_many(make, refused):
    for _ in range(50):
        make()
    with refused(Conflict, "too_many_tokens"):
        make()


def test_an_unknown_token_to_revoke(operator, actor_of, refused):
    with refused(NotFound):
        revoke_token(actor=actor_of(operator), token_id=new_id())


def test_use_is_noted_once_a_minute(make, monkeypatch, django_assert_num_queries):
    text = make().text
    start = clock.now()
    note_token_use(verify_token(text))
    with django_assert_num_queries(2):
        note_token_use(verify_token(text))
    monkeypatch.setattr(clock, "now", lambda: start + timedelta(seconds=61))
    note_token_use(verify_token(text))
    assert ApiToken.objects.get().last_used_at == start + timedelta(seconds=61)


@pytest.mark.parametrize("scripted", [True, False])
def test_the_console_makes_tokens_for_programs(scripted, site):
    person = grant(make_person(is_scripted=scripted), site, Role.VIEWER)
    made = create_token(actor=system_actor("token command"), person_id=person.id, site_id=site.id, role=Role.VIEWER, name="x")
    assert verify_token(made.text).person_id == person.id
