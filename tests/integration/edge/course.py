"""A course of things with a real gateway, a real bridge and people: what checks of the whole are made on."""

import asyncio
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from uuid import uuid4

from apps.accounts.services import create_person, create_site, grant_role
from apps.control.services import confirm_clear, request_clear
from apps.fleet.types import subject_name
from apps.journal.models import Event
from apps.journal.services import SealFolder, catch_up, export_lines
from apps.kernel.types import Role, system_actor
from tests.factories import fleet
from tests.factories.accounts import PASSWORD, actor_of, client_of
from tests.served import COOKIE

ROOT = Path(__file__).resolve().parents[3]
CONSOLE = system_actor("tests")


class Discs:
    """The bridge of `spinner` for robots of a site, at a real gateway."""

    def __init__(self, folder: Path, gateway, robots, credential: str, name: str, guard_off: str = "") -> None:
        folder.mkdir(exist_ok=True)
        self.folder, self.robots, self.credential = folder, robots, credential
        self.config, self.record = folder / f"{name}.json", folder / f"{name}.jsonl"
        subjects = [{"subject": subject_name(robot.id), "name": robot.name} for robot in robots]
        told = {"url": gateway.address, "credential": credential, "bridge": name, "subjects": subjects}
        self.config.write_text(json.dumps(told))
        self.config.chmod(0o600)
        self.environment = {**os.environ, "PILOTHOUSE_TEST_GUARD_OFF": guard_off}
        self.running: subprocess.Popen[str] | None = None

    @classmethod
    async def make(cls, world, gateway, site, folder, count=2, name="discs"):
        """Robots, a credential for them, and the bridge that will speak for them."""
        robots = [await world.do(fleet.make_robot, site, kind="disc", is_simulated=True) for _ in range(count)]
        credential = await world.do(fleet.credential_for, site, robots, name)
        return cls(folder / name, gateway, robots, credential, name, world.guard_off)

    def start(self, *words: str) -> "Discs":
        """Start it."""
        command = [
            sys.executable,
            "-m",
            "tests.integration.edge.spinner",
            "--config",
            self.config,
            "--log",
            self.record,
            *words,
        ]
        with (self.folder / "log").open("ab") as log:
            self.running = subprocess.Popen([*map(str, command)], cwd=ROOT, env=self.environment, stdout=log, stderr=log)
        return self

    async def end(self, how: int = signal.SIGTERM) -> None:
        """End it, or kill it."""
        if self.running is not None and self.running.poll() is None:
            self.running.send_signal(how)
            await asyncio.to_thread(self.running.wait, 15)

    def lines(self) -> list[dict]:
        """What it wrote of itself."""
        text = self.record.read_text() if self.record.exists() else ""
        return [json.loads(line) for line in text.split("\n") if line.endswith("}")]

    def heard(self, op: str) -> list[dict]:
        """What it heard."""
        return [line["message"] for line in self.lines() if line["what"] == "heard" and line["message"]["op"] == op]

    def kept(self, fact: str = "") -> list[dict]:
        """The facts it kept."""
        return [line for line in self.lines() if line["what"] == "kept" and fact in {"", line["body"]["fact"]}]

    def waits(self) -> int:
        """How many of them the console has not acknowledged."""
        taken = {one["boot"]: one["sequence"] for one in self.heard("facts_taken")}
        for welcome in self.heard("welcome"):
            taken |= {one["boot"]: max(one["sequence"], taken.get(one["boot"], 0)) for one in welcome["resume"]}
        return sum(one["sequence"] > taken.get(one["boot"], 0) for one in self.kept())

    def settled(self, runs: int) -> bool:
        """It was started so many times, tells nothing any more (no disc has told a fact but its beginning since the last
        start), and all of it is acknowledged: only then do its record and the journal stand still."""
        said = [line["message"] for line in self.lines() if line["what"] == "said"]
        boots = list(dict.fromkeys(one["boot"] for one in said if one["op"] == "hello"))
        if len(boots) < runs:
            return False
        begun = {one["subject"] for one in self.kept("episode_started") if one["boot"] == boots[-1]}
        return len(begun) == len(json.loads(self.config.read_text())["subjects"]) and self.waits() == 0


async def until(met, within=20.0):
    """Wait until something is so, asked in a thread of its own."""
    async with asyncio.timeout(within):
        while not (found := await asyncio.to_thread(met)):
            await asyncio.sleep(0.05)
    return found


def facts_of(type: str) -> list[dict]:
    """Payloads of one type in the journal."""
    from django.db import connection

    try:
        return list(Event.objects.filter(type=type).order_by("position").values_list("payload", flat=True))
    finally:
        connection.close()


def _made_by_acts():
    """A site and one person of each role there, made by acts alone: so that all of it is in the journal."""
    people = {}
    site = create_site(actor=CONSOLE, slug=f"hall-{uuid4().hex[:8]}", name="Hall", is_simulated=True)
    for role in Role:
        address = f"{role.value}-{uuid4().hex[:8]}@example.test"
        person = create_person(actor=CONSOLE, email=address, name=role.label.capitalize(), password=PASSWORD)
        grant_role(actor=CONSOLE, site_id=site.id, person_id=person.id, role=role)
        people[role] = person
    return site, people


async def hall(world):
    """The site, its people by role, and the session of its viewer."""
    site, people = await world.do(_made_by_acts)
    session = await world.do(lambda: client_of(people[Role.VIEWER]).cookies[COOKIE].value)
    return site, people, session


async def clear(world, site, people, stop) -> None:
    """Two people clear a Stop."""

    def ask_and_confirm():
        asked = request_clear(actor=actor_of(people[Role.FLOOR_OPERATOR]), site_id=site.id, stop_id=stop)
        other = actor_of(people[Role.OPERATOR])
        confirm_clear(actor=other, site_id=site.id, stop_id=stop, clear_id=asked.clear_id)

    await world.do(ask_and_confirm)


def export(path: Path, seal: Path) -> Path:
    """Seal what there is, and export all of it."""
    catch_up(seal=SealFolder(seal))
    path.write_text("".join(export_lines()), encoding="utf-8")
    return path
