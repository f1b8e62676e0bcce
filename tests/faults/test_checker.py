"""The checker of the standing invariants: it finds nothing wrong with a real course of things, and each planted wrong.

The course: a bridge of two discs at a real gateway; episodes; a Stop; kill -9 of the bridge while it holds; two people clear
it; the bridge comes back and tells the rest.
"""

import asyncio
import copy
import gzip
import hashlib
import importlib.util
import json
import os
import signal
import subprocess
import sys
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from django.db import connection

from apps.fleet.types import subject_name
from apps.journal.lifecycle.notes import read, sign
from apps.journal.services import SealFolder
from tests.faults import checker
from tests.faults.checker.canary import spellings
from tests.integration.edge import course
from tests.integration.edge.course import Discs, clear, facts_of, hall, until
from tests.integration.ingest.speaking import page_of

pytestmark = pytest.mark.timeout(180)
ROOT = Path(__file__).resolve().parents[2]
_SPEC = importlib.util.spec_from_file_location("check_proofs", ROOT / "tools" / "check_proofs.py")
check_proofs = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(check_proofs)


@dataclass
class Evidence:
    """What lies around after the course; copies of it are spoilt."""

    folder: Path
    export: Path
    record: Path
    credential: str
    environment: dict[str, str]
    lines: list[dict[str, Any]] = field(default_factory=list)
    said: list[dict[str, Any]] = field(default_factory=list)

    def read(self) -> "Evidence":
        """Read both files as the lines they are."""
        self.lines = [json.loads(line) for line in self.export.read_text().split("\n") if line]
        self.said = [json.loads(line) for line in self.record.read_text().split("\n") if line]
        return self

    def spoilt(self, folder: Path, spoil) -> "Evidence":
        """A copy with something wrong in it."""
        other = Evidence(folder, folder / "export.jsonl", folder / "discs.jsonl", self.credential, self.environment)
        other.lines, other.said = copy.deepcopy(self.lines), copy.deepcopy(self.said)
        spoil(other)
        other.export.write_text("".join(json.dumps(line) + "\n" for line in other.lines))
        other.record.write_text("".join(json.dumps(line) + "\n" for line in other.said))
        return other

    def events(self, *types: str) -> list[dict[str, Any]]:
        """Facts of some types, to be changed in place."""
        return [line["event"] for line in self.lines if "event" in line and line["event"]["type"] in types]

    def told(self) -> list[dict[str, Any]]:
        """Facts that the bridge sent."""
        return [line["event"] for line in self.lines if "event" in line and "device_ms" in line["event"]["payload"]]

    def remove(self, event: dict[str, Any]) -> None:
        """Take a fact out."""
        self.lines = [line for line in self.lines if line.get("event") is not event]

    def add(self, event: dict[str, Any], **payload: Any) -> dict[str, Any]:
        """Put a changed copy of a fact in, as the last."""
        last = max(line["event"]["position"] for line in self.lines if "event" in line)
        made = copy.deepcopy(event) | {"position": last + 1, "number": last + 1}
        made["payload"] |= payload
        self.lines.append({"event": made})
        return made

    def findings(self) -> list[str]:
        """All that files alone tell."""
        export, records = checker.read_export(self.export), [checker.read_record(self.record)]
        found = [
            *checker.claims(export),
            *checker.acknowledged(export, records, settled=True),
            *checker.stops(export, records, settled=True),
            *checker.proofs(self.export),
            *checker.canaries([self.credential], [self.export, self.record]),
        ]
        return list(map(str, found))


@pytest.fixture(scope="module")
def evidence(world, gateway, tmp_path_factory):
    folder = tmp_path_factory.mktemp("course")
    discs = asyncio.run(_course(world, gateway, folder))
    written = course.export(folder / "export.jsonl", folder / "seal")
    environment = {
        **os.environ,
        "DJANGO_SETTINGS_MODULE": "console.settings.embedded",
        "PILOTHOUSE_DATABASE_URL": world.url,
        "PILOTHOUSE_MIGRATION_DATABASE_URL": world.url,
        "PILOTHOUSE_DATA": str(world.folder),
    }
    return Evidence(folder, written, discs.record, discs.credential, environment).read()


async def _course(world, gateway, folder) -> Discs:
    site, people, session = await hall(world)
    discs = await Discs.make(world, gateway, site, folder)
    subjects = {subject_name(robot.id) for robot in discs.robots}
    try:
        discs.start("--facts-each", "25")
        await until(lambda: len(facts_of("fleet.episode_ended")) >= 2)
        async with page_of(world, gateway, session=session) as page:
            stop = await page.stop(site)
            await page.hear("stop", stop=stop, state="recorded", within=10)
        await until(lambda: {one["subject"] for one in facts_of("control.stop_confirmed")} == subjects)
        await discs.end(signal.SIGKILL)
        discs.start("--facts-each", "25")
        await until(lambda: len(discs.heard("welcome")) == 2)
        await asyncio.sleep(2)
        ended = len(await world.do(facts_of, "fleet.episode_ended"))
        await clear(world, site, people, stop)
        await until(lambda: {one["subject"] for one in facts_of("control.stop_released")} == subjects)
        await until(lambda: len(facts_of("fleet.episode_ended")) >= ended + 2)
        await discs.end(signal.SIGKILL)
        discs.start("--facts-each", "1000000")
        await until(lambda: discs.settled(runs=3))
    finally:
        await discs.end()
    return discs


def test_nothing_is_found_where_nothing_is_wrong(evidence):
    assert evidence.findings() == []
    assert checker.replay(evidence.environment) == []
    kinds = {event["type"] for event in evidence.told()}
    assert kinds >= {"fleet.episode_started", "fleet.episode_ended", "fleet.stop_latched", "fleet.stop_released"}
    assert len({event["payload"]["boot"] for event in evidence.told()}) == 3
    assert {event["payload"]["epoch"] for event in evidence.told()} == {1, 2, 3}


def _first(evidence, fact="fleet.episode_started"):
    return evidence.events(fact)[0]


def _lost(evidence):
    evidence.remove(evidence.told()[-1])


def _lost_inside(evidence):
    evidence.remove(evidence.told()[3])


def _twice(evidence):
    evidence.add(evidence.told()[-1])


def _made_up(evidence):
    last = evidence.told()[-1]
    evidence.add(last, sequence=last["payload"]["sequence"] + 1)


def _other_words(evidence):
    _first(evidence, "fleet.episode_ended")["payload"]["steps"] += 1


def _other_time(evidence):
    _first(evidence)["payload"]["device_ms"] += 1


def _other_robot(evidence):
    one, other = evidence.events("fleet.robot_bound")
    told = next(event for event in evidence.told() if event["payload"]["robot_id"] == one["payload"]["robot_id"])
    told["payload"]["robot_id"] = other["payload"]["robot_id"]


def _other_kind(evidence):
    _first(evidence, "fleet.stop_latched")["type"] = "fleet.stop_released"


def _forgotten(evidence):
    boot = next(line["message"]["boot"] for line in evidence.said if line.get("message", {}).get("op") == "facts_taken")
    resume = [{"boot": boot, "sequence": 0}]
    evidence.said.append({"what": "heard", "message": {"op": "welcome", "resume": resume, "subjects": [], "refused": []}})


def _kept_twice(evidence):
    evidence.said.append(next(line for line in evidence.said if line["what"] == "kept"))


def _old_epoch(evidence):
    evidence.told()[-1]["payload"]["epoch"] = 1


def _same_epoch(evidence):
    first, second, _ = evidence.events("fleet.bridge_connected")
    second["payload"]["epoch"] = first["payload"]["epoch"]


def _two_bridges(evidence):
    bound = _first(evidence, "fleet.robot_bound")
    evidence.add(bound, bridge_id=str(uuid4()))


def _strange_bridge(evidence):
    last = evidence.told()[-1]
    bridge = str(uuid4())
    evidence.add(_first(evidence, "fleet.bridge_connected"), bridge_id=bridge, epoch=1)
    evidence.add(last, bridge_id=bridge, epoch=1, boot=str(uuid4()), sequence=1)


def _shared_boot(evidence):
    last = evidence.told()[-1]
    bridge = str(uuid4())
    evidence.add(_first(evidence, "fleet.bridge_connected"), bridge_id=bridge, epoch=1)
    evidence.add(last, bridge_id=bridge, epoch=1)


def _unrecorded_stop(evidence):
    evidence.remove(_first(evidence, "control.stop_requested"))


def _unseen_stop(evidence):
    gone = _first(evidence, "fleet.stop_latched")
    evidence.remove(gone)


def _believed_stop(evidence):
    evidence.add(_first(evidence, "control.stop_confirmed"), subject=f"robot:{uuid4()}")


def _uncleared(evidence):
    evidence.remove(_first(evidence, "control.stop_cleared"))


def _let_go(evidence):
    evidence.said = [line for line in evidence.said if line.get("message", {}).get("op") != "clear_stop"]


def _moves(evidence):
    latched = next(place for place, line in enumerate(evidence.said) if line.get("body", {}).get("fact") == "stop_latched")
    report = next(line for line in evidence.said[latched + 10 :] if line.get("message", {}).get("op") == "report")
    report["message"]["is_moving"] = True


def _edited(evidence):
    event = next(line["event"] for line in evidence.lines if "event" in line)
    event["actor_name"] = "somebody else"


def _cut_off(evidence):
    evidence.lines = evidence.lines[: len(evidence.lines) // 2]


PLANTED = {
    "a fact is lost": (_lost, "I2: fact"),
    "a fact inside is lost": (_lost_inside, "I2: boot"),
    "a fact is taken twice": (_twice, "I2: fact"),
    "a fact is made up": (_made_up, "I2: the journal has fact"),
    "a fact says something else": (_other_words, "steps is"),
    "a fact has another time": (_other_time, "its time is"),
    "a fact is about another robot": (_other_robot, "it is about robot"),
    "a fact is of another kind": (_other_kind, "it is fleet.stop_released, not stop_latched"),
    "the console forgets": (_forgotten, "I2: the console had fact"),
    "a bridge counts twice": (_kept_twice, "I2: discs.jsonl kept fact 1"),
    "an old epoch is let in": (_old_epoch, "I1: event"),
    "an epoch comes again": (_same_epoch, "follows epoch 1"),
    "two bridges have a robot": (_two_bridges, "is bound to bridge"),
    "a strange bridge tells of a robot": (_strange_bridge, "tells of robot"),
    "two bridges share a boot": (_shared_boot, "was another bridge's"),
    "a Stop is not recorded": (_unrecorded_stop, "acted at discs and is not in the journal"),
    "a Stop is not said to hold": (_unseen_stop, "never said that it holds"),
    "a Stop is believed to hold": (_believed_stop, "never said that Stop"),
    "a Stop is let go uncleared": (_uncleared, "before anybody cleared it"),
    "a Stop is let go untold": (_let_go, "nobody had told it to"),
    "a stopped robot moves": (_moves, "moves at"),
    "a fact is edited": (_edited, "I4: DOES NOT HOLD: event 1 "),
    "the end is cut off": (_cut_off, "I4: DOES NOT HOLD"),
}


@pytest.mark.parametrize("name", PLANTED)
def test_what_is_planted_is_found(evidence, tmp_path, name):
    spoil, words = PLANTED[name]
    found = evidence.spoilt(tmp_path, spoil).findings()
    assert any(words in one for one in found), found


def test_a_row_changed_by_hand_is_found(evidence):
    robot = evidence.events("fleet.robot_registered")[0]["payload"]
    try:
        _rename(robot["robot_id"], "another name")
        found = list(map(str, checker.replay(evidence.environment)))
        assert any(one.startswith("I3: DIFFERS  fleet_robot") for one in found), found
    finally:
        _rename(robot["robot_id"], robot["name"])


def _rename(robot_id, name):
    with connection.cursor() as cursor:
        cursor.execute("UPDATE fleet_robot SET name = %s WHERE id = %s", [name, robot_id])


def _rewritten(evidence, seal):
    """Change one fact and make all after it right again, signed with the true key: nothing in the export itself shows it."""
    key = SealFolder(seal).signing_key()
    evidence.events("fleet.episode_started")[0]["payload"]["task"] = "another task"
    previous, tree = {}, check_proofs.Tree()
    for line in evidence.lines:
        if "event" in line:
            event = line["event"]
            before = previous.get(event["stream"], bytes(32))
            digest = previous[event["stream"]] = check_proofs.digest_of(event, before)
            event["previous"], event["digest"] = before.hex(), digest.hex()
            tree.add(hashlib.sha256(b"\0" + event["position"].to_bytes(8, "big", signed=True) + digest).digest())
        elif "checkpoint" in line:
            line["checkpoint"] = sign(replace(read(line["checkpoint"]), root=tree.root()), key)


def test_a_journal_rewritten_whole_is_found_by_an_earlier_checkpoint(evidence, tmp_path):
    spoilt = evidence.spoilt(tmp_path, lambda other: _rewritten(other, evidence.folder / "seal"))
    assert checker.proofs(spoilt.export) == []
    found = checker.proofs(spoilt.export, earlier=[evidence.export])
    assert "are not those that were sealed" in str(found[0])
    assert checker.proofs(evidence.export, earlier=[evidence.export]) == []


SECRET = 'phm_0123456789ab_d41d8cd98f00b204e9800998ecf8427e0f/+"é'


@pytest.mark.parametrize("how", spellings(SECRET))
@pytest.mark.parametrize("offset", [0, 1, 2, 2**20 - 7])
def test_a_secret_is_found_in_every_spelling_and_at_every_place(tmp_path, how, offset):
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "web.log").write_bytes(b"x" * offset + spellings(SECRET)[how] + b"\nmore")
    found = checker.canaries([SECRET, "another secret"], [tmp_path])
    assert [str(one) for one in found if "web.log holds the secret phm_01..." in one.what]
    assert len(found) == 1
    assert SECRET not in str(found[0])


def test_a_secret_is_found_in_what_is_packed_or_encoded_with_its_surroundings(tmp_path):
    import base64

    (tmp_path / "a.gz").write_bytes(gzip.compress(f"before {SECRET} after".encode()))
    for number, before in enumerate((b"", b"a", b"ab")):
        (tmp_path / f"{number}.txt").write_bytes(base64.b64encode(before + SECRET.encode() + b"behind"))
    assert len(checker.canaries([SECRET], [tmp_path])) == 4
    with pytest.raises(ValueError, match="so short"):
        checker.canaries(["short"], [tmp_path])


def test_a_torn_last_line_of_a_record_counts_for_nothing_and_another_is_a_fault(evidence, tmp_path):
    text = evidence.record.read_text()
    torn = tmp_path / "torn.jsonl"
    torn.write_text(text[:-30])
    assert len(checker.read_record(torn).lines) == len(evidence.said) - 1
    lines = text.split("\n")
    torn.write_text("\n".join([lines[0], lines[1][:-5], *lines[2:]]))
    with pytest.raises(ValueError, match="line 2, is no JSON"):
        checker.read_record(torn)


def test_by_hand(evidence, tmp_path):
    secrets = tmp_path / "secrets"
    secrets.write_text(evidence.credential)
    words = [evidence.export, "--record", evidence.record, "--settled", "--secrets", secrets]
    command = [sys.executable, "-m", "tests.faults.checker", *map(str, words)]
    assert subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False).returncode == 0
    done = subprocess.run([*command, "--look", str(secrets)], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "I7:" in done.stdout
