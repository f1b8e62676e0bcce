"""The bridge of the simulated arms as a process: at a scripted gateway, and at a real one with a real database."""

import asyncio
import io
import json
import signal
import subprocess
import sys
import time
from uuid import uuid4

import pytest
from PIL import Image

from apps.fleet.services import place_order
from apps.fleet.types import subject_name
from apps.kernel.types import Role
from tests.factories import fleet
from tests.factories.accounts import actor_of
from tests.integration.edge import course
from tests.integration.edge.course import ROOT, facts_of, until
from tests.integration.edge.scripted import robot, scripted
from workers.protocol import EpisodeStarted, Hello, Mode, Picture, Report, States, StopLatched, StopNow
from workers.sims.bench import CONTROL_S

pytestmark = pytest.mark.timeout(180)
MOTION_ENDS_WITHIN_MS = 400  # by the bridge's own measure; about 130 where nothing else runs


class Process:
    """Two arms, driven by the expert so that nothing is trained here."""

    def __init__(self, folder, url, subjects):
        self.folder, self.subjects, self.running = folder, subjects, None
        self.config = folder / "arms.json"
        named = [{"subject": subject, "name": f"arm-{place:02d}"} for place, subject in enumerate(subjects, 1)]
        self.told = {"url": url, "credential": "phm_x", "bridge": "arms", "subjects": named}
        self.write()

    def write(self, **more):
        self.config.write_text(json.dumps(self.told | more))
        self.config.chmod(0o600)
        return self

    def start(self, *more):
        command = [sys.executable, "-m", "workers.edge.arms", "--config", self.config, "--weights", self.folder / "weights"]
        with (self.folder / "log").open("ab") as log:
            self.running = subprocess.Popen(
                [*map(str, command), "--expert", "--seed", "0", *more], cwd=ROOT, stdout=log, stderr=log
            )
        return self

    def kill(self, how=signal.SIGKILL):
        if self.running is not None and self.running.poll() is None:
            self.running.send_signal(how)
            self.running.wait(15)


@pytest.fixture
async def arms(tmp_path):
    async with scripted() as gateway:
        process = Process(tmp_path, gateway.url, [robot(), robot()])
        yield gateway, process
        process.kill()


def moved(reports):
    return [one for one in reports if one.is_moving and one.mode is Mode.AUTONOMOUS]


async def test_arms_move_are_seen_and_stand_still_through_kill_9(arms):
    gateway, process = arms
    process.start()
    await gateway.until(lambda: moved(gateway.all(Report)), within=60)
    assert all(one.is_simulated for one in gateway.all(Hello)[0].described)
    pictures = await gateway.until(lambda: len(found := gateway.all(Picture)) > 5 and found, within=20)
    assert len({one.jpeg for one in pictures}) == len(pictures)
    assert Image.open(io.BytesIO(pictures[0].jpeg)).size == (320, 240)
    stop = StopNow(stop=uuid4(), subjects=process.subjects, issued_at_ms=gateway.now_ms())
    await gateway.say(stop)
    latched = await gateway.until(
        lambda: len(found := [fact for _, fact in gateway.facts() if isinstance(fact.body, StopLatched)]) == 2 and found
    )
    assert all(fact.body.ended_at_ms - fact.body.received_at_ms < MOTION_ENDS_WITHIN_MS for fact in latched)
    process.kill()
    before = len(gateway.heard)
    process.start()
    await gateway.until(
        lambda: len(gateway.heard) > before and [one for one in gateway.heard[-1] if isinstance(one, Report)], 60
    )
    await asyncio.sleep(2)  # longer than a bridge waits before it moves
    again = [one for one in gateway.heard[-1] if isinstance(one, Report)]
    assert {(one.mode, one.is_moving) for one in again} == {(Mode.STOPPED, False)}
    boot = gateway.heard[-1][0].boot
    assert not [fact for own, fact in gateway.facts() if own == boot and isinstance(fact.body, EpisodeStarted)]


async def test_states_keep_their_rate_and_their_order(arms):
    gateway, process = arms
    process.start()
    await gateway.until(lambda: gateway.all(States), within=60)
    first, began = len(gateway.all(States)), time.monotonic()
    await asyncio.sleep(3)
    frames = gateway.all(States)
    assert len(frames) - first > 0.5 * (time.monotonic() - began) / CONTROL_S
    sequences = [state.sequence for frame in frames for state in frame.states if state.subject == 0]
    assert sequences == sorted(set(sequences))


async def test_an_unsafe_action_is_refused_recorded_and_ends_its_episode(world, gateway, tmp_path):
    """Attack 70, through a real gateway into a real journal."""
    site, people, _ = await course.hall(world)
    robots = [await world.do(fleet.make_robot, site, kind="arm", is_simulated=True) for _ in range(2)]
    credential = await world.do(fleet.credential_for, site, robots, "arms")
    process = Process(tmp_path, gateway.address, [subject_name(one.id) for one in robots])
    process.write(credential=credential).start()
    try:
        ours = str(robots[0].id)
        await until(lambda: [one for one in facts_of("fleet.episode_started") if one["robot_id"] == ours], 60)
        order = {"site_id": site.id, "robot_id": robots[0].id, "name": "inject_fault", "arguments": {"name": "policy_nan"}}
        await world.do(lambda: place_order(actor=actor_of(people[Role.OPERATOR]), **order))
        refused = await until(lambda: [one for one in facts_of("fleet.action_refused") if one["robot_id"] == ours], 30)
        assert "finite" in refused[0]["reason"]
        ended = await until(lambda: [one for one in facts_of("fleet.episode_ended") if one["outcome"] == "unsafe"], 30)
        assert [one["robot_id"] for one in ended] == [ours]
        assert ended[0]["episode_id"] == refused[0]["episode_id"]
        assert await until(lambda: [one["robot_id"] for one in facts_of("fleet.needs_reset")]) == [ours]
    finally:
        process.kill()
