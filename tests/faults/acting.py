"""What people do at a deployment, done in a process of its own: `python -m tests.faults.acting DATA people|discs|clear ...`.

`people` makes a viewer, a floor operator, an operator and an admin of the demo's site and prints their ids, the site, the
viewer's session and a token of the admin as JSON. `discs SITE COUNT` registers robots for `tests.integration.edge.spinner`, and
prints what its configuration says of them. `clear SITE STOP FLOOR_OPERATOR OPERATOR` clears a Stop as two people do.
"""

import json
import os
import sys
from uuid import UUID, uuid4

os.environ["PILOTHOUSE_DATA"] = sys.argv[1]
os.environ["DJANGO_SETTINGS_MODULE"] = "console.settings.embedded"

import django

django.setup()

from apps.accounts.models import Person  # noqa: E402
from apps.accounts.services import create_machine_credential, create_person, create_token, demo_site, grant_role  # noqa: E402
from apps.control.services import confirm_clear, request_clear  # noqa: E402
from apps.fleet.services import register_robot  # noqa: E402
from apps.fleet.types import subject_name  # noqa: E402
from apps.kernel.types import Role, system_actor  # noqa: E402
from tests.factories.accounts import PASSWORD, actor_of, client_of  # noqa: E402
from tests.served import COOKIE  # noqa: E402

CONSOLE = system_actor("tests")


def people() -> None:
    """Make them, by acts alone, so that replay makes them too."""
    site, made = demo_site(), {}
    for role in (Role.VIEWER, Role.FLOOR_OPERATOR, Role.OPERATOR, Role.ADMIN):
        address = f"{role.value}-{uuid4().hex[:8]}@example.test"
        person = create_person(actor=CONSOLE, email=address, name=role.label.capitalize(), password=PASSWORD)
        grant_role(actor=CONSOLE, site_id=site.id, person_id=person.id, role=role)
        made[role] = person
    session = client_of(made[Role.VIEWER]).cookies[COOKIE].value
    ids = {role.value: str(person.id) for role, person in made.items()}
    admin = made[Role.ADMIN]
    given = {"actor": actor_of(admin), "person_id": admin.id, "site_id": site.id, "role": Role.ADMIN, "name": "writers"}
    token = create_token(**given).text
    print(json.dumps({"site": str(site.id), "slug": site.slug, "session": session, "token": token, **ids}))


def discs(site: str, count: str) -> None:
    """Register discs, and make what their bridge signs in with."""
    names = [f"disc-{uuid4().hex[:6]}" for _ in range(int(count))]
    given = {"actor": CONSOLE, "site_id": UUID(site), "kind": "disc", "is_simulated": True}
    subjects = [{"subject": subject_name(register_robot(name=name, **given).id), "name": name} for name in names]
    named, bridge = [one["subject"] for one in subjects], f"discs-{uuid4().hex[:6]}"
    made = create_machine_credential(actor=CONSOLE, site_id=UUID(site), name=bridge, subjects=named)
    print(json.dumps({"credential": made.text, "bridge": bridge, "subjects": subjects}))


def clear(site: str, stop: str, floor_operator: str, operator: str) -> None:
    """One asks, another confirms."""
    one, other = (actor_of(Person.objects.get(id=person)) for person in (floor_operator, operator))
    asked = request_clear(actor=one, site_id=UUID(site), stop_id=UUID(stop))
    confirm_clear(actor=other, site_id=UUID(site), stop_id=UUID(stop), clear_id=asked.clear_id)


if __name__ == "__main__":
    {"people": people, "clear": clear, "discs": discs}[sys.argv[2]](*sys.argv[3:])
