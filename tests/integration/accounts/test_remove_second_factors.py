import pytest
from allauth.mfa.models import Authenticator

from apps.accounts import selectors
from apps.accounts.services import remove_second_factors
from apps.journal.models import Event
from apps.kernel import clock
from apps.kernel.errors import NotAllowed
from tests.factories.accounts import actor_of, make_person
from tests.factories.everything import make_passkey

pytestmark = pytest.mark.django_db


def staff_actor(*, second_factor):
    person = make_person("Staff")
    person.is_staff = True
    person.save()
    return selectors.actor_of_person(person, proved_at=clock.now(), second_factor=second_factor)


def test_every_factor_goes_and_each_leaves_a_fact():
    person, staff = make_person("Owner"), staff_actor(second_factor=True)
    make_passkey(person)
    make_passkey(person)
    assert remove_second_factors(staff, person) == 2
    assert not Authenticator.objects.filter(user=person).exists()
    assert Event.objects.filter(type="accounts.second_factor_removed").count() == 2
    assert remove_second_factors(staff, person) == 0


@pytest.mark.parametrize("who", ["themselves", "staff by password alone"])
def test_nobody_else_may(who):
    person = make_person("Owner")
    make_passkey(person)
    actor = actor_of(person) if who == "themselves" else staff_actor(second_factor=False)
    with pytest.raises(NotAllowed):
        remove_second_factors(actor, person)
    assert Authenticator.objects.filter(user=person).count() == 1
    assert not Event.objects.exists()
