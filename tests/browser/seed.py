"""Makes the tables, the collected files and the cast of the browser tests; a process of its own against its own database."""

import json
import sys
from uuid import UUID

import django
from django.core.management import call_command

ARMS = 12


def main(password: str) -> None:
    """One site with the whole cast, a second site for one of them, and somebody without any role."""
    django.setup()
    call_command("migrate", verbosity=0)
    call_command("collectstatic", verbosity=0, interactive=False)
    from apps.kernel.types import Role
    from tests.factories import accounts

    site = accounts.make_site("hall-b", name="Delft hall B", is_simulated=True)
    lab = accounts.make_site("lab", name="Lab")
    for role in Role:
        person = accounts.make_person(f"{role.value.replace('_', '-')}-1", email=f"{role.value}@example.org", password=password)
        accounts.grant(person, site, role)
        if role is Role.AUDITOR:
            accounts.grant(person, lab, role)
    accounts.make_person("newcomer-1", email="newcomer@example.org", password=password)
    make_arms(site.id)


def make_arms(site_id: UUID) -> None:
    """Twelve simulated arms at the site, and the file that their bridge signs in with."""
    from django.conf import settings

    from apps.accounts.services import create_machine_credential
    from apps.fleet.services import register_robot
    from apps.kernel.types import system_actor

    actor = system_actor("seed of browser tests")
    names = [f"arm-{number:02d}" for number in range(1, ARMS + 1)]
    robots = [register_robot(actor=actor, site_id=site_id, name=name, kind="arm", is_simulated=True) for name in names]
    subjects = [{"subject": f"robot:{robot.id}", "name": robot.name} for robot in robots]
    made = create_machine_credential(actor=actor, site_id=site_id, name="arms", subjects=[one["subject"] for one in subjects])
    path = settings.DATA / "arms.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch(mode=0o600)
    url = f"{settings.GATEWAY_URL}/machine"
    path.write_text(json.dumps({"url": url, "credential": made.text, "bridge": "arms", "subjects": subjects}))
    alarm = raise_alarm(site_id, robots[-1].id)
    (settings.DATA / "made.json").write_text(json.dumps({"robot": str(robots[0].id), "alarm": str(alarm)}))


def raise_alarm(site_id: UUID, robot_id: UUID) -> UUID:
    """A policy that the bridge of one robot had to refuse; nobody has seen it yet."""
    from apps.alarms.models import Alarm
    from apps.alarms.services import set_condition
    from apps.kernel import clock
    from apps.kernel.types import SubjectRef, system_actor

    set_condition(
        actor=system_actor("seed of browser tests"),
        definition="policy_unsafe",
        subject=SubjectRef("robot", robot_id, site_id=site_id),
        active=True,
        at=clock.now(),
        detail="ten times the speed",
    )
    return UUID(str(Alarm.objects.get(site_id=site_id).id))


if __name__ == "__main__":
    main(sys.argv[1])
