"""A bridge as a process of its own, killed and starved: Stops hold, nothing moves by itself, each fact arrives once."""

import asyncio
import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from uuid import uuid4

import pytest

from tests.integration.edge.scripted import robot, scripted
from workers.protocol import ClearStop, Mode, Order, OrderDone, Report, States, StopLatched, StopNow, StopReleased

ROOT = Path(__file__).resolve().parents[3]


class Process:
    """The spinner of two discs, started and killed."""

    def __init__(self, folder, url, guard_off=""):
        self.environment = {**os.environ, "PILOTHOUSE_TEST_GUARD_OFF": guard_off}
        self.folder, self.subjects = folder, [robot(), robot()]
        self.config, self.log = folder / "discs.json", folder / "discs.jsonl"
        subjects = [{"subject": subject} for subject in self.subjects]
        self.config.write_text(json.dumps({"url": url, "credential": "phm_x", "bridge": "discs", "subjects": subjects}))
        self.config.chmod(0o600)
        self.running = None

    def start(self, *more):
        command = [sys.executable, "-m", "tests.integration.edge.spinner", "--config", self.config, "--state", self.folder]
        self.running = subprocess.Popen(
            [*map(str, command), "--log", str(self.log), *more],
            cwd=ROOT,
            env=self.environment,
            stderr=subprocess.PIPE,
            text=True,
        )
        return self

    def kill(self, how=signal.SIGKILL):
        if self.running is not None:
            self.running.send_signal(how)
            self.words = self.running.communicate(timeout=10)[1]
        return self

    def lines(self):
        return [json.loads(line) for line in self.log.read_text().splitlines()]

    def moved(self):
        """When something moved, by anybody's leave or not."""
        path = self.folder / "angles"
        return [float(line.split()[0]) for line in path.read_text().splitlines()] if path.exists() else []


@pytest.fixture
async def discs(request, tmp_path):
    async with scripted() as gateway:
        process = Process(tmp_path, gateway.url, request.config.getoption("--guard-off"))
        yield gateway, process
        if process.running is not None and process.running.poll() is None:
            process.kill()


def latched(gateway, count):
    facts = [fact for _, fact in gateway.facts() if isinstance(fact.body, StopLatched)]
    return facts if len(facts) >= count else None


async def moving(gateway, process):
    process.start()
    return await gateway.until(lambda: [one for one in gateway.all(States) if one.states[0].values[0] > 2.0])


async def more(gateway, before):
    """The bridge came back, after so many connections before."""
    await gateway.until(lambda: len(gateway.heard) > before)


async def test_a_stop_ends_motion_and_holds_through_kill_9(discs):
    """Attack 17, at the bridge: the Stop is latched across restarts."""
    gateway, process = discs
    await moving(gateway, process)
    stop = StopNow(stop=uuid4(), subjects=process.subjects, issued_at_ms=gateway.now_ms())
    await gateway.say(stop)
    pressed = time.time()
    facts = await gateway.until(lambda: latched(gateway, 2))
    assert time.time() - pressed < 0.5
    assert {fact.subject for fact in facts} == set(process.subjects)
    for fact in facts:
        assert fact.body.stop == stop.stop
        assert 0 < fact.body.ended_at_ms - fact.body.received_at_ms < 300
    assert max(process.moved()) - pressed < 0.3
    for _ in range(2):
        process.kill()
        restarted, before = time.time(), len(gateway.heard)
        process.start()
        await more(gateway, before)
        await gateway.until(lambda: [one for one in gateway.heard[-1] if isinstance(one, Report)])
        await asyncio.sleep(1.5)  # longer than a bridge waits before it moves
        for report in (one for one in gateway.heard[-1] if isinstance(one, Report)):
            assert (report.mode, report.latched, report.is_moving) == (Mode.STOPPED, [stop.stop], False)
        assert not [at for at in process.moved() if at > restarted]
    assert len(latched(gateway, 2)) == 2  # told once each, over all restarts
    await gateway.say(ClearStop(stop=stop.stop, subjects=process.subjects))
    await gateway.until(lambda: len([1 for _, fact in gateway.facts() if isinstance(fact.body, StopReleased)]) == 2)
    cleared = time.time()
    await gateway.until(lambda: [at for at in process.moved() if at > cleared])


async def test_a_stop_pressed_while_the_bridge_was_away_comes_before_any_motion(discs):
    gateway, process = discs
    stop = StopNow(stop=uuid4(), subjects=process.subjects, issued_at_ms=1)

    async def tell(socket):
        await asyncio.sleep(0.7)  # the console needs a moment to see that it is not latched
        await gateway.say(stop)

    gateway.on_welcome = tell
    process.start()
    await gateway.until(lambda: latched(gateway, 2))
    await asyncio.sleep(0.8)
    assert process.moved() == []


async def test_nothing_moves_before_the_console_was_heard(discs):
    gateway, process = discs
    gateway.answers = False
    process.start()
    await gateway.until(lambda: gateway.heard)
    await asyncio.sleep(1.5)
    assert process.moved() == []


async def test_a_lost_link_neither_ends_motion_nor_begins_it(discs):
    gateway, process = discs
    await moving(gateway, process)
    stop = StopNow(stop=uuid4(), subjects=process.subjects[:1], issued_at_ms=1)
    await gateway.say(stop)
    await gateway.until(lambda: latched(gateway, 1))
    gateway.sockets[-1].transport.abort()
    await gateway.until(lambda: len(gateway.heard) == 2 and [one for one in gateway.heard[1] if isinstance(one, States)])
    await asyncio.sleep(0.3)
    values = [(state.subject, state.values[0]) for one in gateway.heard[1] if isinstance(one, States) for state in one.states]
    assert len({value for subject, value in values if subject == 0}) == 1
    assert len({value for subject, value in values if subject == 1}) > 3


async def test_a_step_that_hangs_ends_motion(discs):
    gateway, process = discs
    await moving(gateway, process)
    await gateway.say(Order(order=uuid4(), subject=process.subjects[0], name="hang"))
    ordered = time.time()
    await asyncio.sleep(3.0)
    inside = [at for at in process.moved() if ordered + 0.2 < at < ordered + 1.9]
    assert inside == []
    assert "a step took longer" in process.kill(signal.SIGTERM).words


async def test_orders_are_done_once_even_one_that_kills(discs):
    gateway, process = discs
    await moving(gateway, process)
    kill, refuse, fail = (Order(order=uuid4(), subject=process.subjects[0], name=name) for name in ("kill", "dance", "fail"))
    await gateway.say(refuse)
    await gateway.say(fail)
    done = await gateway.until(lambda: [fact.body for _, fact in gateway.facts() if isinstance(fact.body, OrderDone)])
    assert (done[0].order, done[0].succeeded, done[0].detail) == (refuse.order, False, "A disc knows no order dance.")
    await gateway.say(kill)
    assert process.running.wait(5) == -signal.SIGKILL

    async def once_more(socket):
        await gateway.say(kill)

    gateway.on_welcome = once_more
    process.start()
    done = await gateway.until(
        lambda: [fact.body for _, fact in gateway.facts() if isinstance(fact.body, OrderDone) and fact.body.order == kill.order]
    )
    assert [one.succeeded for one in done] == [False]
    assert process.running.poll() is None


async def test_two_bridges_do_not_share_a_state_folder(discs):
    gateway, process = discs
    await moving(gateway, process)
    other = Process.__new__(Process)
    other.__dict__ |= process.__dict__
    other.start()
    assert other.running.wait(10) == 2
    assert "another bridge works with" in other.running.stderr.read()
    assert process.running.poll() is None


async def test_it_ends_cleanly_when_asked(discs):
    gateway, process = discs
    await moving(gateway, process)
    await asyncio.to_thread(process.kill, signal.SIGTERM)
    assert process.running.returncode == 0
    assert gateway.sockets[0].close_code == 1000


@pytest.mark.faults
@pytest.mark.timeout(240)
async def test_each_fact_arrives_once_whenever_bridge_and_link_die(discs):
    gateway, process = discs
    chance = random.Random(7)
    for _ in range(6):
        before = len(gateway.heard)
        process.start("--facts-each", "1")
        await more(gateway, before)
        await asyncio.sleep(1.1 + chance.random())
        gateway.takes = False
        gateway.sockets[-1].transport.abort()
        await asyncio.sleep(chance.random() / 2)
        gateway.takes = True
        process.kill()
    process.start("--facts-each", "1000000")
    kept = {(line["boot"], line["sequence"]) for line in process.lines() if line["what"] == "kept"}
    assert len(kept) > 100
    taken = lambda: {(str(boot), n) for boot, last in gateway.taken.items() for n in range(1, last + 1)}  # noqa: E731
    await gateway.until(lambda: kept <= taken(), within=30)
    for boot in {boot for boot, _ in kept}:
        numbers = sorted(n for of, n in kept if of == boot)
        assert numbers == list(range(1, len(numbers) + 1))


@pytest.mark.faults
async def test_a_disk_that_refuses_stops_new_motion_says_so_and_still_holds_a_stop(discs):
    gateway, process = discs
    process.start("--facts-each", "1", "--largest-file", str(270 * 1024))
    gateway.takes = False
    await gateway.until(lambda: [one for one in gateway.all(Report) if one.faults], within=40)
    assert gateway.all(Report)[-1].faults == ["facts cannot be kept"]
    stop = StopNow(stop=uuid4(), subjects=process.subjects, issued_at_ms=1)
    await gateway.say(stop)
    await gateway.until(lambda: [one.mode for one in gateway.all(Report)[-2:]] == [Mode.STOPPED] * 2)
    assert all(one.latched == [stop.stop] for one in gateway.all(Report)[-2:])
    process.kill()
    restarted = time.time()
    process.start()  # with room again
    gateway.takes = True
    await gateway.until(lambda: latched(gateway, 2), within=30)
    assert not [at for at in process.moved() if at > restarted]
