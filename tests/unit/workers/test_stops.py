"""A Stop at the bridge: motion ends, is seen to end, is told, and stays ended."""

import itertools
import time
from threading import Event, current_thread
from uuid import uuid4

import pytest

from workers.client import SpoolFull
from workers.edge.base.stops import Stops
from workers.edge.base.watchdog import EVERY_S, Watchdog
from workers.protocol import ClearStop, StopLatched, StopNow, StopReleased

A, B, OTHER = (f"robot:{uuid4()}" for _ in "abc")


class Machine:
    """Two machines that move until they are told to stop, and for `runs_on_s` after."""

    def __init__(self, runs_on_s=0.0):
        self.runs_on_s, self.told, self.threads = runs_on_s, {}, set()
        self.ignores = set()

    def stop(self, subject):
        self.threads.add(current_thread().name)
        self.told.setdefault(subject, []).append(time.monotonic())
        if subject in self.ignores:
            raise RuntimeError("the wire is cut")

    def is_moving(self, subject):
        told = self.told.get(subject)
        return told is None or subject in self.ignores or time.monotonic() < told[0] + self.runs_on_s


class Case:
    def __init__(self, folder, machine):
        self.machine, self.facts, self.freed = machine, [], []
        self.full = False
        self.stops = Stops(folder, machine, now_ms=lambda: int(time.time() * 1000), fact=self.keep, released=self.freed.append)

    def keep(self, subject, body):
        if self.full:
            raise SpoolFull("full")
        self.facts.append((subject, body))

    def told(self, kind):
        return [(subject, body.stop) for subject, body in self.facts if isinstance(body, kind)]


@pytest.fixture
def cases(tmp_path):
    made = []

    def make(**given):
        case = Case(tmp_path, Machine(**given))
        case.stops.start(frozenset({A, B}))
        made.append(case)
        return case

    yield make
    for case in made:
        case.stops.close()


def until(met, within=3.0):
    deadline = time.monotonic() + within
    while not met():
        assert time.monotonic() < deadline, "it did not come to that"
        time.sleep(0.005)


def stop_of(*subjects):
    return StopNow(stop=uuid4(), subjects=list(subjects), issued_at_ms=0)


def test_motion_ends_at_once_and_is_told_when_it_has_ended(cases):
    case, message = cases(runs_on_s=0.1), stop_of(A, B, OTHER)
    pressed = time.monotonic()
    case.stops.stop_now(message)
    until(lambda: len(case.facts) == 2)
    assert max(times[0] for times in case.machine.told.values()) - pressed < 0.05
    assert set(case.machine.told) == {A, B}
    assert case.machine.threads == {"watchdog"}  # not the one that listens: a machine that hangs must not make us deaf
    for _, body in case.facts:
        assert body.stop == message.stop
        assert 90 <= body.ended_at_ms - body.received_at_ms < 1000


def test_motion_that_a_step_begins_just_after_a_stop_is_ended_and_nothing_is_confirmed_before(cases):
    case, message = cases(), stop_of(A)
    case.machine.told[A] = [0.0]  # it stands
    case.stops.stop_now(message)
    until(lambda: len(case.machine.told[A]) == 2)
    time.sleep(2 * EVERY_S)
    assert case.facts == []  # a step that looked before may be under way
    del case.machine.told[A]  # and here it begins motion
    begun = int(time.time() * 1000)
    case.stops.tick()
    until(lambda: case.told(StopLatched))
    assert case.facts[0][1].ended_at_ms >= begun


def test_the_same_stop_again_tells_nothing_new(cases):
    case, message = cases(), stop_of(A)
    for _ in range(3):
        case.stops.stop_now(message)
        until(lambda: case.facts)
    time.sleep(3 * EVERY_S)
    assert case.told(StopLatched) == [(A, message.stop)]


def test_a_machine_that_moves_on_is_told_again_and_it_is_said(cases):
    case = cases()
    case.machine.ignores = {A}
    case.stops.stop_now(stop_of(A, B))
    until(lambda: case.told(StopLatched))
    assert [subject for subject, _ in case.told(StopLatched)] == [B]
    until(lambda: len(case.machine.told[A]) > 2)
    assert case.stops.faults(A) == ["stop not in effect"]
    assert case.stops.faults(B) == []
    case.machine.ignores = set()
    until(lambda: len(case.told(StopLatched)) == 2)
    assert case.stops.faults(A) == []


def test_a_restart_holds_and_says_once_what_it_had_not_said(cases, tmp_path):
    first, said, unsaid = cases(), stop_of(A), stop_of(B)
    first.stops.stop_now(said)
    until(lambda: first.told(StopLatched))
    first.full = True
    first.stops.stop_now(unsaid)
    until(lambda: first.stops.latch.holds(B))
    first.stops.latch.keep()  # and killed
    second = Case(tmp_path, Machine())
    second.stops.start(frozenset({A, B}))
    try:
        assert set(second.machine.told) == {A, B}  # before anything else
        until(lambda: second.facts)
        time.sleep(3 * EVERY_S)
        assert second.told(StopLatched) == [(B, unsaid.stop)]
    finally:
        second.stops.close()


def test_clearing_tells_it_then_frees_and_only_what_no_other_stop_holds(cases):
    """Attack 18, at the bridge: an old message that clears clears nothing newer."""
    case, first, second = cases(), stop_of(A, B), stop_of(A)
    case.stops.stop_now(first)
    case.stops.stop_now(second)
    until(lambda: len(case.facts) == 3)
    case.stops.clear_stop(ClearStop(stop=first.stop, subjects=[A, B]))
    until(lambda: case.freed)
    assert case.freed == [B]
    assert sorted(case.told(StopReleased)) == sorted([(A, first.stop), (B, first.stop)])
    case.stops.clear_stop(ClearStop(stop=first.stop, subjects=[A, B]))  # an old message, played again
    case.stops.clear_stop(ClearStop(stop=uuid4(), subjects=[A]))
    case.stops.clear_stop(ClearStop(stop=second.stop, subjects=[B]))
    case.stops._disk.submit(lambda: None).result()
    assert case.stops.latch.of(A) == [second.stop]
    assert len(case.told(StopReleased)) == 2


def test_a_release_that_cannot_be_kept_does_not_happen(cases):
    case, message = cases(), stop_of(A)
    case.stops.stop_now(message)
    until(lambda: case.facts)
    case.full = True
    case.stops.clear_stop(ClearStop(stop=message.stop, subjects=[A]))
    case.stops._disk.submit(lambda: None).result()
    assert case.stops.latch.holds(A)
    assert case.freed == []


def test_a_full_spool_delays_the_word_and_not_the_stop(cases):
    case, message = cases(), stop_of(A)
    case.full = True
    case.stops.stop_now(message)
    until(lambda: case.machine.told)
    assert case.stops.latch.holds(A)
    case.full = False
    until(lambda: case.told(StopLatched))


class TestWatchdog:
    @pytest.fixture
    def dogs(self):
        made = []

        def make(look=lambda: None):
            made.append(Watchdog(look))
            made[-1].start()
            return made[-1]

        yield make
        for dog in made:
            dog.stop()

    def test_it_looks_every_20_ms_and_goes_on_after_a_fault(self, dogs):
        looks = []

        def look():
            looks.append(time.monotonic())
            raise RuntimeError("a bad look")

        dogs(look)
        time.sleep(0.5)
        gaps = sorted(after - before for before, after in itertools.pairwise(looks))
        assert len(looks) <= 27
        assert gaps[len(gaps) // 2] < 2 * EVERY_S  # the middle one: a busy machine makes some of them long

    def test_what_does_not_come_in_time_is_acted_on_once(self, dogs):
        dog, taken = dogs(), []
        for _ in range(5):
            fired, armed = [], time.monotonic()
            dog.expect("a", 0.1, lambda name: fired.append((name, time.monotonic())))  # noqa: B023 - waited for at once
            until(lambda: fired)  # noqa: B023
            time.sleep(0.1)
            [(name, at)] = fired
            assert name == "a"
            taken.append(at - armed)
        assert min(taken) >= 0.1
        assert sorted(taken)[2] < 0.1 + 4 * EVERY_S  # the middle one: a busy machine makes some of them long

    def test_what_comes_in_time_is_left_alone(self, dogs):
        dog, fired = dogs(), Event()
        dog.expect("a", 0.8, lambda name: fired.set())
        for _ in range(10):
            time.sleep(0.1)
            dog.feed("a")
        assert not fired.is_set()
        assert fired.wait(3.0)
        dog.feed("a")  # too late: it is armed again only by `expect`
        dog.expect("b", 0.05, lambda name: fired.clear())
        dog.forget("b")
        time.sleep(0.15)
        assert fired.is_set()

    def test_one_action_that_fails_does_not_keep_others_from_theirs(self, dogs):
        dog, fired = dogs(), Event()

        def fail(name):
            raise RuntimeError(name)

        dog.expect("a", 0.03, fail)
        dog.expect("b", 0.03, lambda name: fired.set())
        assert fired.wait(1.0)
