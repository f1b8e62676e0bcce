"""Bridges at a real gateway with a real database: claims, restarts, versions, and the smallest bridge of all."""

import asyncio
import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from apps.fleet.types import subject_name
from tests.factories import fleet
from tests.faults import checker
from tests.integration.edge import course
from tests.integration.edge.course import Discs, facts_of, until
from tests.integration.edge.test_client import Listener
from workers.client import Client, Identity, client, reconnect
from workers.protocol import Described

pytestmark = pytest.mark.timeout(180)


@pytest.fixture
async def site(world):
    return (await course.hall(world))[0]


@pytest.fixture
async def bridges(world, gateway, site, tmp_path):
    made = []

    async def make(*given, **named):
        made.append(await Discs.make(world, gateway, site, tmp_path, *given, **named))
        return made[-1]

    yield make
    for one in made:
        await one.end(signal.SIGKILL)


async def judged(world, folder: Path, *records: Path) -> list[str]:
    """What the checker finds in all that is in the journal now."""
    export = await world.do(course.export, folder / "export.jsonl", folder / "seal")
    read = checker.read_export(export), [checker.read_record(path) for path in records]
    found = [*checker.claims(read[0]), *checker.acknowledged(*read, settled=True), *checker.stops(*read, settled=True)]
    return [*map(str, found), *map(str, checker.proofs(export))]


async def test_two_bridges_claim_one_robot_and_one_of_them_has_it(world, site, bridges, tmp_path):
    """The second bridge has a credential of its own for the same robots: it is told why it does not speak for them."""
    first = await bridges(name="first")
    first.start("--facts-each", "10")
    await until(lambda: first.heard("welcome") and first.kept("episode_ended"))
    second = await bridges(count=1, name="second")
    credential = await world.do(fleet.credential_for, site, [*first.robots, *second.robots], "third")
    told = json.loads(second.config.read_text()) | {"credential": credential, "bridge": "third"}
    told["subjects"] = [{"subject": subject_name(robot.id)} for robot in [*first.robots, *second.robots]]
    second.config.write_text(json.dumps(told))
    second.start("--facts-each", "10")
    welcome = (await until(lambda: second.heard("welcome")))[0]
    assert welcome["subjects"] == [subject_name(second.robots[0].id)]
    assert [one["code"] for one in welcome["refused"]] == ["claimed", "claimed"]
    await until(lambda: len(second.kept("episode_ended")) > 5)
    ours = {str(robot.id) for robot in first.robots}
    own = await world.do(facts_of, "fleet.robot_bound")
    holder = next(fact["bridge_id"] for fact in own if fact["robot_id"] in ours)
    await first.end()
    await second.end()
    first.start("--facts-each", "1000000")
    second.start("--facts-each", "1000000")
    await until(lambda: first.settled(runs=2) and second.settled(runs=2))
    ended = await world.do(facts_of, "fleet.episode_ended")
    assert {fact["bridge_id"] for fact in ended if fact["robot_id"] in ours} == {holder}
    assert await judged(world, tmp_path, first.record, second.record) == []


async def test_a_copy_of_a_bridge_takes_its_place_and_the_other_stands_back(world, bridges, tmp_path):
    one = await bridges(name="original")
    one.start()
    await until(lambda: one.heard("welcome"))
    folder = tmp_path / "copy"
    folder.mkdir()
    config = folder / "copy.json"
    config.write_text(one.config.read_text())
    config.chmod(0o600)
    copy = Discs.__new__(Discs)
    copy.__dict__ |= one.__dict__ | {"folder": folder, "config": config, "record": folder / "copy.jsonl", "running": None}
    copy.start()
    try:
        await until(lambda: copy.heard("welcome"))
        closed = (await until(lambda: [line for line in one.lines() if line["what"] == "closed"]))[0]
        assert "4409" in closed["reason"]
        assert closed["wait_s"] >= 15  # they do not take it from each other back and forth
        await asyncio.sleep(2)
        assert [len(one.heard("welcome")), len(copy.heard("welcome"))] == [1, 1]
    finally:
        await copy.end(signal.SIGKILL)
        await one.end(signal.SIGKILL)
    assert [str(one) for one in checker.claims(await _export(world, tmp_path))] == []


async def _export(world, folder):
    return checker.read_export(await world.do(course.export, folder / "export.jsonl", folder / "seal"))


@pytest.mark.faults
async def test_no_fact_is_lost_or_doubled_when_gateway_and_bridge_are_killed(world, site, tmp_path):
    gateway = world.serve("gateway")
    discs = await Discs.make(world, gateway, site, tmp_path, name="killed")
    try:
        discs.start("--facts-each", "2")
        for round in range(3):
            await until(lambda: discs.heard("welcome"))
            taken = len(discs.heard("facts_taken"))
            await until(lambda taken=taken: len(discs.heard("facts_taken")) > taken + 5, within=30)
            gateway.process.kill()
            gateway.process.wait()
            if round == 1:
                await discs.end(signal.SIGKILL)
                discs.start("--facts-each", "2")
            await asyncio.sleep(1)
            gateway = world.serve("gateway", port=gateway.port)
        await discs.end(signal.SIGKILL)
        discs.start("--facts-each", "1000000")
        await until(lambda: discs.settled(runs=3), within=60)
    finally:
        await discs.end(signal.SIGKILL)
    assert len(discs.kept()) > 100
    assert await judged(world, tmp_path, discs.record) == []


async def test_a_version_that_the_gateway_does_not_speak_is_refused_with_a_reason(world, gateway, site, tmp_path, monkeypatch):
    monkeypatch.setattr(client, "VERSIONS", (8, 9))
    robot = await world.do(fleet.make_robot, site, kind="disc", is_simulated=True)
    credential = await world.do(fleet.credential_for, site, [robot], "from-the-future")
    subject = subject_name(robot.id)
    future = Client(
        Identity(url=gateway.address, bridge="from-the-future", credential=credential),
        [Described(subject=subject, kind="disc", is_simulated=True)],
        Listener(),
        folder=tmp_path / "spool",
    )
    future.start()
    try:
        await until(lambda: future.link.fault)
        assert "unknown_version" in future.link.fault
        assert "It speaks 1." in future.link.fault
    finally:
        await asyncio.to_thread(future.stop)


async def test_a_credential_that_is_no_more_is_said_and_not_hammered_on(world, gateway, tmp_path):
    stranger = Client(
        Identity(url=gateway.address, bridge="nobody", credential="phm_0123456789ab_" + "0" * 48),
        [Described(subject="robot:1", kind="disc")],
        Listener(),
        folder=tmp_path / "spool",
    )
    stranger.start()
    try:
        await until(lambda: "turned away: 401" in stranger.link.fault)
        assert 401 in reconnect.LASTING_STATUS
    finally:
        await asyncio.to_thread(stranger.stop)


async def test_this_computer_speaks_for_itself(world, gateway, tmp_path):
    site = await world.site()
    robot = await world.do(fleet.make_robot, site, kind="host")
    credential = await world.do(fleet.credential_for, site, [robot], "computer")
    config, record = tmp_path / "computer.json", tmp_path / "computer.jsonl"
    subjects = [{"subject": subject_name(robot.id)}]
    told = {"url": gateway.address, "credential": credential, "bridge": "computer", "subjects": subjects}
    config.write_text(json.dumps(told))
    config.chmod(0o600)
    command = [sys.executable, "-m", "workers.edge.host", "--config", str(config), "--log", str(record)]
    running = subprocess.Popen(command, cwd=course.ROOT)
    try:
        states = await until(lambda: _said(record, "said", "states", 3))
        [welcome] = _said(record, "heard", "welcome")
        assert welcome["subjects"] == [subject_name(robot.id)]
        assert _said(record, "heard", "rejected") == []
        processor, memory = states[-1]["states"][0][3][:2]
        assert 0 <= processor <= 100
        assert 0 < memory < 100
    finally:
        running.kill()
        running.wait()


def _said(record: Path, what: str, op: str, least: int = 0) -> list[dict]:
    """Messages in a record, once there are so many."""
    text = record.read_text() if record.exists() else ""
    lines = [json.loads(line) for line in text.split("\n") if line.endswith("}")]
    found = [line["message"] for line in lines if line["what"] == what and line["message"]["op"] == op]
    return found if len(found) >= least else []
