"""Clocks, waits, places for samples, addresses and the record of a client."""

import json
import random
import stat
import time
from uuid import uuid4

import pytest

from workers.client import ConsoleClock, DeviceClock
from workers.client.address import is_here, socket_url
from workers.client.backoff import MOST_S, SLOW_S, Backoff
from workers.client.record import Record
from workers.client.slots import Slots, batches
from workers.protocol import Heartbeat, Mode, Picture, Report, State


def state(subject, sequence=1, *values):
    return State(subject=subject, sequence=sequence, at_ms=1, values=list(values))


def picture(camera, sequence=1, subject=0):
    return Picture(subject=subject, camera=camera, sequence=sequence, at_ms=1, jpeg=b"\xff\xd8\xff\xd9")


class TestConsoleClock:
    """Offsets against a console whose clock is known."""

    def learn(self, clock, *, ahead_ms, out_s, back_s):
        """A round trip that took `out_s` there and `back_s` back, to a console ahead of our wall clock."""
        sent = time.monotonic()
        there = time.time() * 1000 + out_s * 1000 + ahead_ms
        clock.learn(sent=sent, received=sent + out_s + back_s, console_ms=there)

    def test_nothing_is_known_at_first(self):
        clock = ConsoleClock()
        assert (clock.now_ms(), clock.offset_ms(DeviceClock()), clock.round_trip_ms) == (None, None, None)

    @pytest.mark.parametrize("ahead_ms", [-600_000, 0, 3_600_000])
    def test_the_trip_with_the_least_delay_counts(self, ahead_ms):
        clock = ConsoleClock()
        self.learn(clock, ahead_ms=ahead_ms, out_s=0.9, back_s=0.1)  # 400 ms wrong
        self.learn(clock, ahead_ms=ahead_ms, out_s=0.004, back_s=0.002)
        self.learn(clock, ahead_ms=ahead_ms, out_s=0.05, back_s=0.4)
        assert clock.offset_ms(DeviceClock()) == pytest.approx(ahead_ms, abs=4)
        assert clock.round_trip_ms == pytest.approx(6, abs=0.01)

    def test_a_jump_of_this_machines_clock_moves_the_offset_and_not_the_time(self):
        clock, device = ConsoleClock(), DeviceClock()
        self.learn(clock, ahead_ms=0, out_s=0.001, back_s=0.001)
        device.skew_ms = 600_000.0
        assert clock.offset_ms(device) == pytest.approx(-600_000, abs=5)
        assert clock.now_ms() == pytest.approx(time.time() * 1000, abs=5)

    def test_old_trips_are_forgotten(self):
        clock = ConsoleClock()
        self.learn(clock, ahead_ms=5000, out_s=0.0001, back_s=0.0001)
        for _ in range(20):
            self.learn(clock, ahead_ms=0, out_s=0.001, back_s=0.001)
        assert clock.offset_ms(DeviceClock()) == pytest.approx(0, abs=5)


class TestBackoff:
    def test_waits_grow_to_a_bound_and_differ(self):
        backoffs = [Backoff(random.Random(seed)) for seed in range(200)]
        for least, most in [(0.1, 0.5), (0.2, 1.0), (0.5, 2.0), (1.0, 4.0), (2.0, 8.0), (3.7, MOST_S), (3.7, MOST_S)]:
            waits = [one.next_s() for one in backoffs]
            assert least <= min(waits) <= max(waits) <= most
            assert len(set(waits)) == len(waits)
            assert max(waits) - min(waits) > most / 2  # spread, not only different

    def test_it_is_short_again_after_a_connection_that_held(self):
        backoff = Backoff()
        for _ in range(50):
            backoff.next_s()
        backoff.worked()
        assert backoff.next_s() <= 0.5

    def test_a_lasting_refusal_waits_long(self):
        assert all(SLOW_S / 2 <= Backoff().slow_s() <= SLOW_S for _ in range(20))


class TestSlots:
    def test_only_the_newest_is_sent(self):
        slots = Slots()
        for sequence in range(5):
            slots.put_state(state(0, sequence))
            slots.put_state(state(1, sequence))
            slots.put_report(Report(subject=0, sequence=sequence, at_ms=1, mode=Mode.HOLD))
            slots.put_picture(picture("front", sequence))
        assert [(one.subject, one.sequence) for one in slots.take_states()] == [(0, 4), (1, 4)]
        assert [one.sequence for one in slots.take_reports()] == [4]
        assert slots.take_picture().sequence == 4
        assert slots.replaced == 16
        assert (slots.take_states(), slots.take_reports(), slots.take_picture()) == ([], [], None)

    def test_pictures_go_in_turn(self):
        slots = Slots()
        for camera in ("a", "b", "a"):
            slots.put_picture(picture(camera))
        assert [slots.take_picture().camera for _ in range(2)] == ["a", "b"]

    def test_memory_does_not_grow_while_nobody_takes(self):
        slots = Slots()
        for sequence in range(10_000):
            slots.put_state(state(sequence % 3, sequence))
        assert len(slots.take_states()) == 3

    def test_clear(self):
        slots = Slots()
        slots.put_state(state(0))
        slots.put_picture(picture("a"))
        slots.clear()
        assert slots.take_states() == []
        assert slots.take_picture() is None

    def test_batches_hold_fifty(self):
        sizes = [len(batch.states) for batch in batches([state(n) for n in range(120)])]
        assert sizes == [50, 50, 20]
        assert list(batches([])) == []


@pytest.mark.parametrize(
    ("url", "socket"),
    [
        ("http://localhost:8001", "ws://localhost:8001/machine"),
        ("https://console.example.test/", "wss://console.example.test/machine"),
        ("ws://127.0.0.1:8001/machine", "ws://127.0.0.1:8001/machine"),
        ("wss://[::1]:8001", "wss://[::1]:8001/machine"),
    ],
)
def test_addresses(url, socket):
    assert socket_url(url) == socket


@pytest.mark.parametrize(
    "url",
    ["", "localhost:8001", "ftp://host", "http://", "http://me:canary@host", "http://host/control", "http://host/?t=canary"],
)
def test_what_is_no_address_is_refused_and_not_quoted(url):
    with pytest.raises(ValueError, match="the gateway's address") as refused:
        socket_url(url)
    assert "canary" not in str(refused.value)


@pytest.mark.parametrize(
    ("url", "here"),
    [
        ("ws://localhost/", True),
        ("ws://a.localhost/", True),
        ("ws://127.9.9.9/", True),
        ("ws://[::1]/", True),
        ("ws://10.0.0.1/", False),
        ("ws://localhost.example/", False),
    ],
)
def test_no_proxy_for_this_computer(url, here):
    assert is_here(url) is here


class TestRecord:
    def lines(self, path):
        return [json.loads(line) for line in path.read_text().splitlines()]

    def test_lines_are_there_before_the_file_is_closed(self, tmp_path):
        path = tmp_path / "log" / "bridge.jsonl"
        record = Record(path)
        record.write("said", Heartbeat(sequence=1, sent_at_ms=2))
        record.write("kept", boot=uuid4(), sequence=3)
        said, kept = self.lines(path)
        assert said["what"] == "said"
        assert said["message"]["op"] == "heartbeat"
        assert (kept["what"], kept["sequence"]) == ("kept", 3)
        assert stat.S_IMODE(path.stat().st_mode) == 0o600

    def test_a_picture_is_given_by_length_and_digest(self, tmp_path):
        path = tmp_path / "log.jsonl"
        Record(path).write("said", picture("front"))
        [line] = self.lines(path)
        assert line["message"]["jpeg"]["bytes"] == 4
        assert len(line["message"]["jpeg"]["sha256"]) == 64

    def test_without_a_path_and_after_its_end_it_writes_nothing(self, tmp_path):
        record = Record(None)
        record.write("said", Heartbeat(sequence=1, sent_at_ms=2))
        record.close()
        record = Record(tmp_path / "log.jsonl")
        record.close()
        record.write("said", Heartbeat(sequence=1, sent_at_ms=2))
        assert self.lines(tmp_path / "log.jsonl") == []
