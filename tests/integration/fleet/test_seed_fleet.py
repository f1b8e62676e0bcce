import json
import stat

import pytest
from django.core.management import call_command

from apps.accounts.models import MachineCredential, Site
from apps.accounts.selectors import verify_machine
from apps.accounts.services import revoke_machine_credential
from apps.fleet.models import Robot
from apps.fleet.services import seed_fleet
from apps.journal.models import Event
from tests.factories.accounts import make_site
from tests.factories.fleet import TESTS, connect

pytestmark = pytest.mark.django_db
URL = "ws://localhost:8001/machine"


@pytest.fixture
def path(tmp_path):
    return tmp_path / "secrets" / "arms.json"


def test_twelve_arms_and_what_their_bridge_signs_in_with(path):
    made = seed_fleet(path, url=URL)
    found = json.loads(path.read_text())
    assert (made.made, len(made.robots), made.is_file_new) == (12, 12, True)
    assert (found["url"], found["bridge"]) == (URL, "arms")
    assert [one["name"] for one in found["subjects"]] == [f"arm-{number:02d}" for number in range(1, 13)]
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert all(robot.is_simulated and robot.kind == "arm" for robot in Robot.objects.all())
    machine = verify_machine(found["credential"])
    assert len(connect(machine, list(Robot.objects.all())).accepted) == 12


def test_once_more_changes_nothing(path):
    seed_fleet(path, url=URL)
    text, events = path.read_text(), Event.objects.count()
    again = seed_fleet(path, url=URL)
    assert (again.made, again.is_file_new, path.read_text(), Event.objects.count()) == (0, False, text, events)


def test_another_address_keeps_the_credential(path):
    seed_fleet(path, url=URL)
    before = json.loads(path.read_text())
    seed_fleet(path, url="ws://localhost:9001/machine")
    assert json.loads(path.read_text()) == before | {"url": "ws://localhost:9001/machine"}


@pytest.mark.parametrize("damage", ["gone", "broken", "revoked", "of another database"])
def test_a_file_that_opens_nothing_is_made_again(path, damage):
    seed_fleet(path, url=URL)
    if damage == "gone":
        path.unlink()
    elif damage == "broken":
        path.write_text("{")
    elif damage == "revoked":
        row = MachineCredential.objects.get()
        revoke_machine_credential(actor=TESTS, site_id=row.site_id, credential_id=row.id)
    else:
        path.write_text(json.dumps(json.loads(path.read_text()) | {"credential": f"phm_{'0' * 12}_{'0' * 48}"}))
    seed_fleet(path, url=URL)
    assert verify_machine(json.loads(path.read_text())["credential"]).actor.name == "arms"
    assert MachineCredential.objects.filter(revoked_at=None).count() == 1


def test_more_arms_later(path):
    seed_fleet(path, url=URL, count=2)
    seed_fleet(path, url=URL, count=3)
    found = json.loads(path.read_text())
    assert len(found["subjects"]) == len(verify_machine(found["credential"]).subjects) == 3


def test_a_real_site_is_left_alone(path):
    real = make_site("hall-a")
    seed_fleet(path, url=URL)
    assert not Robot.objects.filter(site=real).exists()
    assert Site.objects.get(slug="demo-hall").is_simulated


def test_the_command_says_where_the_secret_is_and_not_what(settings, tmp_path, capsys):
    settings.DATA = tmp_path
    call_command("seed_fleet", robots=2)
    said = capsys.readouterr().out
    assert str(tmp_path / "secrets" / "arms.json") in said
    assert "phm_" not in said
