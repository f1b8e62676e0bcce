"""The client of a bridge, against a gateway that does what it is told: lost links, refusals, silence, facts not taken."""

import asyncio
import json
import time
from uuid import uuid4

import pytest

from tests import engines
from tests.integration.edge.scripted import robot, scripted
from workers.client import Client, Identity, backoff, reconnect, session
from workers.protocol import (
    Described,
    EpisodeEnded,
    FactsTaken,
    Heartbeat,
    Hello,
    Mode,
    NeedsReset,
    Outcome,
    Picture,
    Refused,
    Rejected,
    Report,
    States,
    StopNow,
    Welcome,
)

CREDENTIAL = "phm_0123456789ab_" + "c" * 48
JPEG = b"\xff\xd8\xff\xd9"


class Listener:
    def __init__(self):
        self.told = []

    def __getattr__(self, name):
        return lambda message: self.told.append((name, message, time.monotonic()))


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    """Waits of a test's length."""
    monkeypatch.setattr(backoff, "FIRST_S", 0.1)
    monkeypatch.setattr(backoff, "MOST_S", 0.5)
    monkeypatch.setattr(session, "TAKEN_WITHIN_S", 0.3)
    monkeypatch.setattr(session, "TAKEN_WITHIN_MOST_S", 0.6)


@pytest.fixture
async def clients(tmp_path):
    made = []

    def make(url, *subjects, folder=tmp_path / "spool", **given):
        identity = Identity(url=url, bridge="arms", credential=CREDENTIAL, software="tests")
        described = [Described(subject=subject, kind="arm") for subject in subjects or (robot(),)]
        client = Client(identity, described, Listener(), folder=folder, **given)
        client.start()
        made.append(client)
        return client

    yield make
    for client in made:
        await asyncio.to_thread(client.stop)


async def test_hello_says_who_and_what(clients):
    async with scripted() as gateway:
        subject = robot()
        client = clients(gateway.url, subject)
        await gateway.until(lambda: gateway.all(Heartbeat))
        [hello] = gateway.all(Hello)
        assert (hello.bridge, hello.boot, hello.versions, hello.subjects) == ("arms", client.boot, [1], [subject])
        assert hello.described == [Described(subject=subject, kind="arm")]
        headers = gateway.headers[0]
        assert headers["authorization"] == f"Bearer {CREDENTIAL}"
        assert not {"cookie", "origin"} & set(headers)
        assert gateway.sockets[0].request.path == "/machine"
        assert isinstance(client.listener.told[0][1], Welcome)


async def test_samples_go_out_newest_first_and_only_for_subjects_we_speak_for(clients):
    async with scripted() as gateway:
        ours, refused = robot(), robot()
        gateway.accepts = lambda hello: [ours]
        client = clients(gateway.url, refused, ours)
        await gateway.until(lambda: client.link.connected)
        for number in range(3):
            for subject in (ours, refused):
                client.state(subject, [float(number), float("nan"), None, float("inf")])
                client.report(subject, mode=Mode.HOLD, step=number)
                client.picture(subject, "front", JPEG)
        client.flush()
        await gateway.until(lambda: gateway.all(Picture))
        [states], [report], [picture] = gateway.all(States), gateway.all(Report), gateway.all(Picture)
        assert [(one.subject, one.sequence, one.values) for one in states.states] == [(1, 3, [2.0, None, None, None])]
        assert (report.subject, report.sequence, report.step) == (1, 3, 2)
        assert (picture.subject, picture.sequence, picture.jpeg) == (1, 3, JPEG)


async def test_a_stop_is_told_before_anything_behind_it(clients):
    async with scripted() as gateway:
        subject = robot()
        client = clients(gateway.url, subject)
        await gateway.until(lambda: client.link.connected)
        await gateway.say(StopNow(stop=uuid4(), subjects=[subject], issued_at_ms=1))
        sent = time.monotonic()
        told = await gateway.until(lambda: [one for one in client.listener.told if one[0] == "stop_now"])
        assert told[0][2] - sent < 0.1


async def test_facts_are_sent_again_until_they_are_taken_and_no_further(clients):
    async with scripted() as gateway:
        gateway.takes = False
        client = clients(gateway.url)
        subject = client.subjects[0].subject
        for number in range(60):
            client.fact(subject, NeedsReset(reason=str(number)))
        await gateway.until(lambda: len(gateway.facts()) >= 100)
        assert client.spool.waiting == 60
        gateway.takes = True
        await gateway.until(lambda: client.spool.waiting == 0)
        assert gateway.taken == {client.boot: 60}
        assert max(fact.sequence for _, fact in gateway.facts()) == 60


async def test_after_a_lost_link_facts_go_on_where_the_console_says(clients):
    async with scripted() as gateway:
        client = clients(gateway.url)
        subject = client.subjects[0].subject
        client.fact(subject, NeedsReset(reason="1"))
        await gateway.until(lambda: client.spool.waiting == 0)
        gateway.takes = False
        client.fact(subject, NeedsReset(reason="2"))
        await gateway.until(lambda: len(gateway.facts()) >= 2)
        gateway.taken[client.boot] = 2  # committed, but its answer is lost with the link
        gateway.takes = True
        gateway.sockets[-1].transport.abort()
        await gateway.until(lambda: client.link.welcomes == 2 and client.spool.waiting == 0)
        assert not [message for message in gateway.heard[1] if message.__class__.__name__ == "Facts"]
        client.fact(subject, NeedsReset(reason="3"))
        await gateway.until(lambda: gateway.taken[client.boot] == 3)


async def test_facts_of_an_earlier_run_go_first(clients, tmp_path):
    subject = robot()
    early = clients("http://127.0.0.1:9", subject)
    for number in range(3):
        early.fact(subject, EpisodeEnded(episode=uuid4(), outcome=Outcome.FAILURE, steps=number))
    await asyncio.to_thread(early.stop)
    async with scripted() as gateway:
        late = clients(gateway.url, subject)
        late.fact(subject, NeedsReset(reason="now"))
        await gateway.until(lambda: late.spool.waiting == 0)
        order = [(boot, fact.sequence) for boot, fact in gateway.facts()]
        assert list(dict.fromkeys(order)) == [*((early.boot, n) for n in (1, 2, 3)), (late.boot, 1)]
        assert gateway.all(Hello)[0].boot == late.boot != early.boot


async def test_a_console_that_lost_its_facts_without_saying_so_gets_the_rest(clients, monkeypatch):
    async with scripted() as gateway:
        client = clients(gateway.url)
        client.spool._segment_bytes = 400
        subject = client.subjects[0].subject
        for number in range(20):
            client.fact(subject, NeedsReset(reason=str(number)))
        await gateway.until(lambda: client.spool.waiting == 0)
        gateway.taken.clear()  # restored from a backup that does not know this boot
        gateway.sockets[-1].transport.abort()
        await gateway.until(lambda: client.link.welcomes == 2)
        client.fact(subject, NeedsReset(reason="after"))
        await gateway.until(lambda: client.spool.waiting == 0)
        assert client.spool.boot != client.boot
        assert gateway.taken[client.spool.boot] == 1


async def test_links_are_cut_and_come_back_on_purpose(clients):
    async with scripted() as gateway:
        client = clients(gateway.url)
        await gateway.until(lambda: client.link.connected)
        client.cut_for(1.0)
        cut = time.monotonic()
        await gateway.until(lambda: not client.link.connected)
        await gateway.until(lambda: client.link.welcomes == 2)
        assert time.monotonic() - cut >= 1.0
        await asyncio.sleep(0.3)
        assert client.link.welcomes == 2


async def test_nothing_measured_before_is_sent_after_a_lost_link(clients):
    async with scripted() as gateway:
        client = clients(gateway.url)
        subject = client.subjects[0].subject
        await gateway.until(lambda: client.link.connected)
        client.cut_for(0.5)
        await gateway.until(lambda: not client.link.connected)
        client.state(subject, [1.0])
        client.picture(subject, "front", JPEG)
        client.flush()
        await gateway.until(lambda: client.link.welcomes == 2)
        client.report(subject, mode=Mode.HOLD)
        client.flush()
        await gateway.until(lambda: gateway.all(Report))
        assert gateway.all(States) == gateway.all(Picture) == []


async def test_a_gateway_that_falls_silent_is_left(clients):
    async with scripted() as gateway:
        gateway.heartbeat_s = 0.2
        client = clients(gateway.url)
        await gateway.until(lambda: client.link.connected)
        gateway.acks = False
        await gateway.until(lambda: client.link.welcomes == 2, within=5)
        gateway.acks = True


async def test_a_gateway_that_does_not_answer_the_hello_is_left(clients, monkeypatch):
    monkeypatch.setattr(session, "HELLO_WITHIN_S", 0.3)
    async with scripted() as gateway:
        gateway.answers = False
        clients(gateway.url)
        await gateway.until(lambda: len(gateway.heard) >= 2)


@pytest.mark.parametrize("what", ["version", "replaced", "credential", "noise"])
async def test_a_lasting_refusal_is_said_and_not_hammered_on(clients, what):
    async with scripted() as gateway:
        if what == "version":
            gateway.refuses = lambda hello: Refused(code="unknown_version", message="This gateway speaks 2.", versions=[2])
        client = clients(gateway.url)
        await gateway.until(lambda: gateway.heard)
        if what == "replaced":
            await gateway.until(lambda: client.link.connected)
            await gateway.sockets[-1].close(4409, "a newer connection of this bridge")
        if what == "credential":
            await gateway.sockets[-1].close(4401, "the credential no longer holds")
        if what == "noise":
            await gateway.until(lambda: client.link.connected)
            await gateway.sockets[-1].send("[")
        words = {"version": "It speaks 2.", "replaced": "4409", "credential": "4401", "noise": "no message"}[what]
        await gateway.until(lambda: words in client.link.fault)
        await asyncio.sleep(1.5)
        assert len(gateway.heard) == 1


async def test_many_bridges_do_not_come_back_at_once(clients, tmp_path, monkeypatch):
    monkeypatch.setattr(backoff, "FIRST_S", 2.0)
    monkeypatch.setattr(backoff, "MOST_S", 2.0)
    async with scripted() as gateway:
        made = [clients(gateway.url, folder=tmp_path / str(number)) for number in range(16)]
        await gateway.until(lambda: all(client.link.connected for client in made))
        gone = time.monotonic()
        for socket in list(gateway.sockets):
            socket.transport.abort()
        await gateway.until(lambda: all(client.link.welcomes == 2 for client in made))
        came = sorted(at - gone for at in gateway.at[16:])
        assert came[0] >= 0.4
        assert came[-1] - came[0] > 0.5
        quarters = [sum(1 for at in came if int(at * 4) == quarter) for quarter in range(10)]
        assert max(quarters) <= 10


async def test_no_gateway_there_and_then_one(clients):
    port = engines.free_port()
    client = clients(f"http://127.0.0.1:{port}")
    await asyncio.sleep(0.5)
    assert "no gateway there" in client.link.fault
    async with scripted(port) as gateway:
        await gateway.until(lambda: client.link.connected)


async def test_the_clock_of_the_console_is_known_soon(clients):
    async with scripted() as gateway:
        gateway.ahead_ms = 3_600_000.0
        client = clients(gateway.url)
        beat = await gateway.until(lambda: [one for one in gateway.all(Heartbeat) if one.offset_ms is not None])
        assert beat[0].offset_ms == pytest.approx(3_600_000, abs=200)
        await gateway.until(lambda: len(gateway.all(Heartbeat)) >= 4)
        assert client.console.offset_ms(client.device) == pytest.approx(3_600_000, abs=50)
        assert [one.sequence for one in gateway.all(Heartbeat)][:4] == [1, 2, 3, 4]


async def test_a_rejection_is_logged_once_and_told_each_time(clients, caplog):
    async with scripted() as gateway:
        client = clients(gateway.url)
        await gateway.until(lambda: client.link.connected)
        for sequence in range(5):
            await gateway.say(Rejected(subject=0, sequence=sequence, field="values[1]", reason="not finite"))
        await gateway.until(lambda: sum(1 for one in client.listener.told if one[0] == "rejected") == 5)
        assert sum("a sample was not taken" in record.message for record in caplog.records) == 1


async def test_the_record_holds_all_that_passed_and_no_credential(clients, tmp_path, caplog):
    caplog.set_level("DEBUG")
    log = tmp_path / "bridge.jsonl"
    async with scripted() as gateway:
        client = clients(gateway.url, log=log)
        subject = client.subjects[0].subject
        client.fact(subject, NeedsReset(reason="it fell"))
        await gateway.until(lambda: client.spool.waiting == 0)
        client.state(subject, [1.0])
        client.picture(subject, "front", JPEG)
        client.flush()
        await gateway.until(lambda: gateway.all(Picture))
        await asyncio.to_thread(client.stop)
        assert (gateway.sockets[0].close_code, gateway.sockets[0].close_reason) == (1000, "the bridge ends it")
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    ops = [line.get("message", {}).get("op", line["what"]) for line in lines]
    assert {"hello", "welcome", "heartbeat", "ack", "kept", "facts", "facts_taken", "states", "picture"} <= set(ops)
    said = [line["message"] for line in lines if line["what"] == "said" and line["message"]["op"] == "facts"]
    assert said[0]["facts"][0]["body"] == {"fact": "needs_reset", "reason": "it fell"}
    logged = [record.getMessage() for record in caplog.records if record.name != "websockets.server"]
    everything = "\n".join([log.read_text(), repr(client.identity), *logged])
    assert "c" * 20 not in everything


async def test_an_answer_about_another_boot_takes_nothing(clients):
    async with scripted() as gateway:
        gateway.takes = False
        client = clients(gateway.url)
        client.fact(client.subjects[0].subject, NeedsReset(reason="x"))
        await gateway.until(gateway.facts)
        await gateway.say(FactsTaken(boot=uuid4(), sequence=99))
        await asyncio.sleep(0.3)
        assert client.spool.waiting == 1


async def test_a_gateway_that_reads_nothing_is_left(clients, monkeypatch):
    monkeypatch.setattr(session, "SEND_WITHIN_S", 0.5)
    async with scripted() as gateway:
        client = clients(gateway.url)
        subject = client.subjects[0].subject
        await gateway.until(lambda: client.link.connected)
        gateway.sockets[-1].transport.pause_reading()
        big = JPEG + bytes(500_000)
        for _ in range(60):
            client.picture(subject, "front", big)
            client.flush()
            await asyncio.sleep(0.05)
            if client.link.welcomes > 1:
                break
        gateway.sockets[0].transport.abort()
        await gateway.until(lambda: client.link.welcomes >= 2)


def test_lasting_codes_and_statuses_are_those_of_the_gateway():
    assert {4400, 4401, 4403, 4409} == reconnect.LASTING_CODES
    assert 503 not in reconnect.LASTING_STATUS
    assert 4408 not in reconnect.LASTING_CODES
