import json
import stat

import pytest
from django.core.management import CommandError, call_command

from apps.accounts.models import Person, RoleGrant, Site
from apps.accounts.selectors import verify_token
from apps.journal.selectors import chain_faults
from apps.kernel.types import Role

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def data(settings, tmp_path):
    settings.DATA = tmp_path
    return tmp_path


def accounts(data):
    return {line["role"]: line for line in json.loads((data / "run" / "demo-accounts.json").read_text())["accounts"]}


def test_a_demo_has_one_person_for_each_role_at_a_simulated_site(data, client):
    call_command("seed", "--demo")
    site = Site.objects.get()
    assert (site.slug, site.name, site.is_simulated) == ("hall-a", "Hall A", True)
    lines = accounts(data)
    assert set(lines) == {role.value for role in Role}
    assert stat.S_IMODE((data / "run" / "demo-accounts.json").stat().st_mode) == 0o600
    for role, line in lines.items():
        person = Person.objects.get(email=line["email"])
        assert person.check_password(line["password"])
        assert not person.is_scripted
        assert [(grant.role, grant.site_id) for grant in person.grants.all()] == [(role, site.id)]
    assert Person.objects.get(email="viewer@pilothouse.localhost").name == "Demo viewer"
    assert not list(chain_faults())


def test_without_a_demo_there_is_one_admin_at_a_real_site(data):
    call_command("seed")
    assert [person.email for person in Person.objects.all()] == ["admin@pilothouse.localhost"]
    assert not Site.objects.get().is_simulated
    assert set(accounts(data)) == {"admin"}


def test_seeding_again_changes_nothing(data):
    call_command("seed", "--demo")
    person = Person.objects.get(email="viewer@pilothouse.localhost")
    person.set_password("chosen by the viewer")
    person.save()
    RoleGrant.objects.filter(role="reviewer").delete()
    before = accounts(data)
    call_command("seed", "--demo")
    assert accounts(data) == before
    assert Person.objects.get(id=person.id).check_password("chosen by the viewer")
    assert not RoleGrant.objects.filter(role="reviewer").exists()
    assert Person.objects.count() == 9


def test_a_demo_never_moves_into_a_real_site(data):
    call_command("seed")
    admin_before = accounts(data)["admin"]
    call_command("seed", "--demo")
    assert {site.slug: site.is_simulated for site in Site.objects.all()} == {"hall-a": False, "demo-hall": True}
    assert RoleGrant.objects.filter(site__slug="hall-a").count() == 1
    assert RoleGrant.objects.filter(site__slug="demo-hall").count() == 9
    assert accounts(data)["admin"] == admin_before


def test_passwords_stay_out_of_the_output(data, capsys):
    call_command("seed", "--demo", "--json")
    out = capsys.readouterr().out
    assert len(json.loads(out)["accounts_made"]) == 9
    assert not [line for line in accounts(data).values() if line["password"] in out]


@pytest.mark.parametrize("role", Role)
def test_the_token_command_prints_a_working_token_last(role, capsys):
    call_command("seed", "--demo")
    capsys.readouterr()
    call_command("token", "--role", role.value)
    text = capsys.readouterr().out.splitlines()[-1]
    found = verify_token(text)
    assert found.actor.roles == {Site.objects.get().id: {role}}
    assert found.actor.name == f"Service {role.label}"


def test_the_token_command_uses_one_person_for_each_role(capsys):
    call_command("seed", "--demo")
    call_command("token", "--role", "viewer")
    call_command("token", "--role", "viewer", "--days", "1")
    assert Person.objects.filter(is_scripted=True).count() == 1


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--role", "viewer", "--site", "nowhere"], "There is no site 'nowhere'."),
        (["--role", "viewer", "--days", "366"], "The number of days is wrong. Give a whole number from 1 to 365."),
        (["--role", "approver"], "A program may be approver only at a simulated site."),
    ],
)
def test_the_token_command_refuses_in_one_line(words, message):
    call_command("seed")
    with pytest.raises(CommandError, match="^" + message.replace(".", r"\.") + "$"):
        call_command("token", *words)
