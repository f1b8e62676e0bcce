"""The demo's twelve simulated arms, and the one credential of the bridge that speaks for them."""

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from uuid import UUID

from django.db import transaction

from apps.accounts import selectors as accounts
from apps.accounts.services import create_machine_credential, demo_site, revoke_machine_credential
from apps.fleet.models import Robot
from apps.fleet.services.robots import register_robot
from apps.fleet.types import subject_name
from apps.kernel.errors import NotSignedIn
from apps.kernel.types import system_actor

BRIDGE, KIND = "arms", "arm"
SEED = system_actor("fleet seed")


@dataclass(frozen=True)
class SeededFleet:
    """What the demo has now: its robots, how many were made, and whether the bridge's file was written anew."""

    robots: Sequence[Robot]
    made: int
    is_file_new: bool


def seed_fleet(path: Path, *, url: str, count: int = 12) -> SeededFleet:
    """Make the simulated arms that are missing at the demo's site, and the file their bridge signs in with.

    `path` gets `{url, credential, bridge, subjects: [{subject, name}]}` with mode 0600. A file that still holds is left
    alone but for its `url`; a credential whose secret nobody has any more is revoked. Does nothing to a real site.
    """
    with transaction.atomic():
        site = demo_site()
        names = [f"arm-{number:02d}" for number in range(1, count + 1)]
        held = set(Robot.objects.filter(site_id=site.id, name__in=names).values_list("name", flat=True))
        missing = [name for name in names if name not in held]
        for name in missing:
            register_robot(actor=SEED, site_id=site.id, name=name, kind=KIND, is_simulated=True)
        robots = list(Robot.objects.filter(site_id=site.id, name__in=names, kind=KIND, is_simulated=True).order_by("name"))
        subjects = [{"subject": subject_name(robot.id), "name": robot.name} for robot in robots]
        before = _read(path)
        credential = _still_holds(before, [one["subject"] for one in subjects])
        wanted: dict[str, object] = {"url": url, "credential": credential, "bridge": BRIDGE, "subjects": subjects}
        if credential is None:
            wanted["credential"] = _new_credential(site.id, [one["subject"] for one in subjects])
        if wanted != before:
            _write(path, wanted)
    return SeededFleet(robots, len(missing), wanted != before)


def _still_holds(found: dict[str, object], subjects: Sequence[str]) -> str | None:
    """The credential in the file, if it signs in today and speaks for exactly these robots."""
    text = found.get("credential")
    if not isinstance(text, str):
        return None
    try:
        machine = accounts.verify_machine(text)
    except NotSignedIn:
        return None
    return text if sorted(machine.subjects) == sorted(subjects) and machine.actor.name == BRIDGE else None


def _new_credential(site_id: UUID, subjects: Sequence[str]) -> str:
    for row in accounts.machines_named(site_id, BRIDGE):
        revoke_machine_credential(actor=SEED, site_id=site_id, credential_id=row.id)
    made = create_machine_credential(actor=SEED, site_id=site_id, name=BRIDGE, subjects=subjects)
    if made.text is None:
        raise RuntimeError("a credential made now shows its secret")
    return made.text


def _read(path: Path) -> dict[str, object]:
    try:
        found = json.loads(path.read_text())
    except (FileNotFoundError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _write(path: Path, wanted: dict[str, object]) -> None:
    """Before the commit: a crash in between leaves a secret of nothing, not a bridge that nobody can start."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    partial = path.with_suffix(".partial")
    partial.unlink(missing_ok=True)
    with os.fdopen(os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        json.dump(wanted, file, indent=2)
        file.flush()
        os.fsync(file.fileno())
    partial.rename(path)
