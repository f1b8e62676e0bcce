"""Fills a deployment for a measurement: `python -m tests.bench.core.seed SUBJECTS BRIDGES`, run with its settings.

Prints JSON: the site, somebody who may watch it, and for each bridge its credential and its subjects.
"""

import json
import sys
from typing import Any

PASSWORD = "a long password for a measurement 1"
SLUG, SMALL_SLUG, EMAIL = "bench-hall", "bench-room", "watcher@bench.test"
SMALL = 10


def seed(subjects: int, bridges: int) -> dict[str, Any]:
    """A simulated site with so many subjects on so many bridges."""
    from apps.accounts.services import create_machine_credential
    from apps.fleet.services import register_robot
    from apps.fleet.types import subject_name
    from apps.kernel.types import Role, system_actor
    from tests.factories.accounts import grant, make_person, make_site

    actor = system_actor("bench")
    site = make_site(SLUG, name="Bench hall", is_simulated=True)
    room = make_site(SMALL_SLUG, name="Bench room", is_simulated=True)
    watcher = make_person("Watcher", email=EMAIL, password=PASSWORD)
    for place in (site, room):
        grant(watcher, place, Role.VIEWER)
    for number in range(SMALL):
        register_robot(actor=actor, site_id=room.id, name=f"subject-{number:04d}", kind="arm", is_simulated=True)
    names = [
        subject_name(
            register_robot(actor=actor, site_id=site.id, name=f"subject-{number:04d}", kind="arm", is_simulated=True).id
        )
        for number in range(subjects)
    ]
    made = []
    for number in range(bridges):
        own = names[number::bridges]
        credential = create_machine_credential(actor=actor, site_id=site.id, name=f"bridge-{number:02d}", subjects=own)
        made.append({"bridge": credential.name, "credential": credential.text, "subjects": own, "first": number})
    return {
        "site": str(site.id),
        "slug": SLUG,
        "watcher": {"email": EMAIL, "password": PASSWORD},
        "subjects": names,
        "bridges": made,
    }


if __name__ == "__main__":
    import django

    django.setup()
    sys.stdout.write(json.dumps(seed(*map(int, sys.argv[1:]))))
