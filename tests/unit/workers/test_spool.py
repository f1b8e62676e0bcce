"""Facts on disk: in order, without gaps, through crashes, torn writes, full disks and restored consoles."""

import errno
import os
from uuid import UUID, uuid4

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from workers.client import Spool, SpoolFull
from workers.client import segment as segments
from workers.protocol import NeedsReset, Resume, WasReset

ROBOT = f"robot:{uuid4()}"


def opened(folder, boot=None, **limits):
    return Spool(folder, boot or uuid4(), **limits)


def put(spool, words="x", **more):
    return spool.append(subject=ROBOT, at_ms=1, body=NeedsReset(reason=words), **more)


def drain(spool):
    """What a console that takes everything gets, in order: (boot, sequence, words)."""
    got = []
    while (facts := spool.pending()) is not None:
        got += [(facts.boot, fact.sequence, fact.body.reason) for fact in facts.facts]
        spool.taken(facts.boot, facts.facts[-1].sequence)
    return got


def test_facts_are_numbered_from_one_and_given_in_order(tmp_path):
    boot = uuid4()
    spool = opened(tmp_path, boot)
    assert [put(spool, str(n)) for n in range(120)] == [(boot, n) for n in range(1, 121)]
    assert spool.waiting == 120
    first = spool.pending()
    assert [fact.sequence for fact in first.facts] == list(range(1, 51))
    assert spool.pending() == first  # until they are taken
    assert [words for _, _, words in drain(spool)] == [str(n) for n in range(120)]
    assert spool.waiting == 0
    assert spool.pending() is None


def test_they_outlive_the_process_that_wrote_them(tmp_path):
    first = opened(tmp_path)
    for n in range(7):
        put(first, f"a{n}")
    first.taken(first.boot, 3)
    second = opened(tmp_path)  # the first was killed: nothing was closed or synced
    put(second, "b")
    second.resume([Resume(boot=first.boot, sequence=3)])
    assert drain(second) == [*((first.boot, n + 1, f"a{n}") for n in range(3, 7)), (second.boot, 1, "b")]


def test_what_was_taken_does_not_stay_on_disk(tmp_path):
    spool = opened(tmp_path, segment_bytes=2000)
    for _ in range(10):
        for n in range(100):
            put(spool, str(n))
        drain(spool)
    assert spool.size < 2500
    spool.close()
    assert [path.name for path in tmp_path.iterdir()] == []


@pytest.mark.parametrize("cut", [1, 5, 20])
def test_a_torn_end_costs_only_the_fact_that_was_torn(tmp_path, cut):
    first = opened(tmp_path)
    for n in range(3):
        put(first, str(n))
    [file] = tmp_path.rglob("*.facts")
    os.truncate(file, file.stat().st_size - cut)
    second = opened(tmp_path)
    assert [words for _, _, words in drain(second)] == ["0", "1"]


def test_a_flipped_bit_is_no_fact(tmp_path):
    first = opened(tmp_path)
    for words in ("good", "it fell", "after"):
        put(first, words)
    [file] = tmp_path.rglob("*.facts")
    file.write_bytes(file.read_bytes().replace(b"it fell", b"it felt"))
    assert [words for _, _, words in drain(opened(tmp_path))] == ["good"]


def test_a_bad_place_in_the_middle_costs_what_lies_in_it_and_no_more(tmp_path):
    first = opened(tmp_path, segment_bytes=200)
    for n in range(30):
        put(first, str(n))
    files = sorted(tmp_path.rglob("*.facts"), key=lambda path: int(path.stem))
    assert len(files) > 4
    lost = range(int(files[2].stem) - 1, int(files[3].stem) - 1)
    files[2].write_bytes(b"\xff" * files[2].stat().st_size)
    for _ in range(2):  # and once more: the second start finds what the first made of it
        again = opened(tmp_path)
    got = drain(again)
    assert [words for _, _, words in got] == [str(n) for n in range(30) if n not in lost]
    for boot in {boot for boot, _, _ in got}:  # each boot without gaps: else no console would take it
        numbers = [sequence for of, sequence, _ in got if of == boot]
        assert numbers == list(range(1, len(numbers) + 1))


def test_a_console_restored_from_a_backup_gets_what_is_still_here_under_another_boot(tmp_path):
    spool = opened(tmp_path, segment_bytes=300)
    boot = spool.boot
    for n in range(20):
        put(spool, str(n))
    spool.taken(boot, 15)
    spool.resume([Resume(boot=boot, sequence=4)])  # it had 15 and now knows 4: 5 to 14 or so are gone for good
    got = drain(spool)
    assert [words for _, _, words in got] == [str(n) for n in range(15, 20)]
    assert [sequence for _, sequence, _ in got] == [1, 2, 3, 4, 5]
    assert boot not in {of for of, _, _ in got}
    put(spool, "next")
    assert drain(spool)[0][1:] == (6, "next")


def test_a_crash_while_renumbering_leaves_one_of_both(tmp_path, monkeypatch):
    spool = opened(tmp_path, segment_bytes=300)
    for n in range(20):
        put(spool, str(n))
    boot = spool.boot
    spool.taken(boot, 15)
    put(opened(tmp_path), "later")  # so that the boot is an old one

    from workers.client import boots

    monkeypatch.setattr(boots, "_placed", lambda other: (_ for _ in ()).throw(KeyboardInterrupt))
    third = opened(tmp_path)
    with pytest.raises(KeyboardInterrupt):
        third.lost(boot, 4)
    monkeypatch.undo()
    again = opened(tmp_path)
    again.taken(boot, 15)
    assert [words for _, _, words in drain(again)] == [*(str(n) for n in range(15, 20)), "later"]


def test_a_late_answer_with_a_lower_number_changes_nothing(tmp_path):
    spool = opened(tmp_path, segment_bytes=300)
    boot = spool.boot
    for n in range(20):
        put(spool, str(n))
    spool.taken(boot, 15)
    spool.taken(boot, 2)
    assert [sequence for _, sequence, _ in drain(spool)] == [16, 17, 18, 19, 20]


def test_a_full_spool_refuses_and_keeps_room_for_stops(tmp_path):
    spool = opened(tmp_path, most_bytes=8000, segment_bytes=1000)
    with pytest.raises(SpoolFull):
        for _ in range(1000):
            put(spool)
    kept = spool.waiting
    with pytest.raises(SpoolFull):
        put(spool)
    assert put(spool, "stop", urgent=True)[1] == kept + 1
    assert spool.waiting == kept + 1
    drain(spool)
    put(spool)  # room again


def test_a_full_disk_refuses_and_leaves_no_half_fact(tmp_path, monkeypatch):
    spool = opened(tmp_path)
    put(spool, "before")
    write = os.write

    def full(handle, data):
        write(handle, data[:9])
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(segments.os, "write", full)
    with pytest.raises(SpoolFull, match="No space"):
        put(spool, "lost")
    monkeypatch.undo()
    assert put(spool, "after")[1] == 2
    assert [words for _, _, words in drain(opened(tmp_path))] == ["before", "after"]


def test_nothing_is_synced_twice_and_everything_before_it_is_sent(tmp_path, monkeypatch):
    synced = []
    monkeypatch.setattr("workers.client.spool.os.fsync", synced.append)
    spool = opened(tmp_path)
    put(spool)
    synced.clear()
    spool.sync()
    spool.sync()
    assert len(synced) == 1
    put(spool)
    spool.sync()
    assert len(synced) == 2


class Life(RuleBasedStateMachine):
    """Any course of facts kept, sent, taken, acknowledgements lost, processes killed. The console takes as fleet does."""

    @initialize(folder=st.uuids())
    def begin(self, folder):
        from tempfile import mkdtemp

        self.folder = mkdtemp(prefix=str(folder))
        self.kept: list[str] = []
        self.console: dict[UUID, int] = {}
        self.got: list[str] = []
        self.spool = opened_at(self.folder)

    @rule(count=st.integers(1, 30))
    def keep(self, count):
        for _ in range(count):
            words = str(len(self.kept))
            put(self.spool, words)
            self.kept.append(words)

    @rule(answered=st.booleans())
    def send(self, answered):
        facts = self.spool.pending(20)
        if facts is None:
            return
        up_to = self.console.get(facts.boot, 0)
        assert facts.facts[0].sequence <= up_to + 1, "a gap: no console would ever take these"
        new = [fact for fact in facts.facts if fact.sequence > up_to]
        self.got += [fact.body.reason for fact in new]
        self.console[facts.boot] = max(up_to, facts.facts[-1].sequence)
        if answered:
            self.spool.taken(facts.boot, self.console[facts.boot])

    @rule()
    def reconnect(self):
        self.spool.resume([Resume(boot=boot, sequence=sequence) for boot, sequence in self.console.items()])

    @rule(welcomed=st.booleans())
    def die(self, welcomed):
        self.spool = opened_at(self.folder)
        if welcomed:
            self.reconnect()

    @invariant()
    def each_fact_once_and_in_order(self):
        if hasattr(self, "got"):
            assert self.got == self.kept[: len(self.got)]

    def teardown(self):
        import shutil

        if hasattr(self, "spool"):
            while self.spool.pending() is not None:
                self.send(answered=True)
            assert self.got == self.kept
            shutil.rmtree(self.folder)


def opened_at(folder):
    from pathlib import Path

    return opened(Path(folder), segment_bytes=400)


TestLife = Life.TestCase
TestLife.settings = settings(max_examples=60, stateful_step_count=30, deadline=None)


def test_other_bodies_are_kept_as_they_are(tmp_path):
    spool = opened(tmp_path)
    spool.append(subject=ROBOT, at_ms=5, body=WasReset())
    [fact] = spool.pending().facts
    assert (fact.subject, fact.at_ms, fact.body) == (ROBOT, 5, WasReset())
