import json

import pytest

from apps.accounts.models import Person, RoleGrant, Site
from apps.accounts.services import demo_site, seed_deployment, service_person
from apps.journal.models import Event
from apps.kernel.errors import Conflict
from apps.kernel.types import Role
from tests.factories.accounts import make_site

pytestmark = pytest.mark.django_db


def test_a_second_seed_makes_nothing(tmp_path):
    file = tmp_path / "accounts.json"
    made = seed_deployment(file, demo=True)
    written, facts = file.read_bytes(), Event.objects.count()
    assert len(made) == len(Role) == len(json.loads(written)["accounts"])
    assert seed_deployment(file, demo=True) == []
    assert (file.read_bytes(), Event.objects.count()) == (written, facts)


def test_a_program_has_one_account_for_a_role_at_a_site():
    site, other = make_site(), make_site()
    first = service_person(site, Role.VIEWER)
    facts = Event.objects.count()
    assert service_person(site, Role.VIEWER) == first
    assert Event.objects.count() == facts
    assert service_person(other, Role.VIEWER) != first
    assert (first.is_scripted, first.has_usable_password()) == (True, False)
    assert list(RoleGrant.objects.filter(person=first).values_list("site_id", "role")) == [(site.id, "viewer")]
    assert Person.objects.count() == 2


def test_the_demo_has_its_own_site_where_the_first_is_real():
    make_site("hall-a")
    found = demo_site()
    assert (found.slug, found.is_simulated, demo_site().id) == ("demo-hall", True, found.id)
    Site.objects.filter(id=found.id).update(is_simulated=False)
    with pytest.raises(Conflict):
        demo_site()
