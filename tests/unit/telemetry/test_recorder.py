import math
import uuid

import numpy as np
import pytest

from apps.telemetry.recording import LONGEST_MS, Recorder
from apps.telemetry.recording import recorder as module
from apps.telemetry.recording.coding import MOST_ROWS

SUBJECT, BOOT, OTHER_BOOT = uuid.uuid4(), uuid.uuid4(), uuid.uuid4()


class Clock:
    now = 100.0

    def monotonic(self):
        return self.now


@pytest.fixture
def clock(monkeypatch):
    clock = Clock()
    monkeypatch.setattr(module, "clock", clock)
    return clock


@pytest.fixture
def recorder(clock):
    made = Recorder()
    made.describe(SUBJECT, 1, 2)
    return made


def add(recorder, *sequences, boot=BOOT, values=(1.0, 2.0)):
    for sequence in sequences:
        recorder.add(SUBJECT, boot, sequence, 5_000 + sequence * 100, 10_000 + sequence * 100, list(values))


def close(recorder):
    return recorder.take_closed(everything=True)


def sequences(blocks):
    return [block.rows[:, 0].astype(int).tolist() for block in blocks]


def test_a_block_closes_after_ten_seconds(recorder, clock):
    add(recorder, 0, 1, 2)
    clock.now += 20
    assert sequences(recorder.take_closed()) == [[0, 1, 2]]
    add(recorder, 3)
    clock.now += 9.9
    assert recorder.take_closed() == []
    clock.now += 0.1
    assert sequences(recorder.take_closed()) == [[3]]


def test_first_blocks_do_not_all_close_together(clock):
    made = Recorder()
    subjects = [uuid.UUID(int=number) for number in range(1000)]
    for subject in subjects:
        made.describe(subject, 1, 0)
        made.add(subject, BOOT, 0, 0, 0, [])
    most = 0
    for _ in range(12):
        clock.now += 1
        most = max(most, len(made.take_closed()))
    assert most <= 200


def test_repeated_states_are_taken_once(recorder):
    add(recorder, 0, 0, 1, 1, 1)
    assert sequences(close(recorder)) == [[0, 1]]
    add(recorder, 1, 2, 0)
    assert sequences(close(recorder)) == [[2]]
    assert recorder.figures().repeated == 5


def test_of_repeated_states_the_first_is_kept(recorder):
    add(recorder, 7, values=(1.0, 1.0))
    add(recorder, 7, values=(2.0, 2.0))
    assert close(recorder)[0].rows[:, 3:].tolist() == [[1.0, 1.0]]


def test_states_in_any_order_lie_in_theirs(recorder):
    add(recorder, 4, 2, 3, 0, 1)
    assert sequences(close(recorder)) == [[0, 1, 2, 3, 4]]


def test_a_late_state_fills_the_gap_it_left(recorder):
    add(recorder, 0, 1, 3, 4)
    close(recorder)
    add(recorder, 5, 2, 2)
    late = close(recorder)
    assert sequences(late) == [[5], [2]]
    assert [block.is_late for block in late] == [False, True]
    assert (recorder.figures().late, recorder.figures().repeated) == (1, 1)


def test_a_gap_between_blocks_can_be_filled_too(recorder):
    add(recorder, 0)
    close(recorder)
    add(recorder, 3)
    close(recorder)
    add(recorder, 1, 2)
    assert sequences(close(recorder)) == [[1, 2]]


def test_another_boot_begins_anew(recorder):
    add(recorder, 0, 1, 2)
    add(recorder, 0, 1, boot=OTHER_BOOT)
    blocks = close(recorder)
    assert sequences(blocks) == [[0, 1, 2], [0, 1]]
    assert [block.boot for block in blocks] == [BOOT, OTHER_BOOT]


def test_other_channels_begin_a_block(recorder):
    add(recorder, 0)
    recorder.describe(SUBJECT, 2, 1)
    recorder.add(SUBJECT, BOOT, 1, 0, 10_100, [3.0])
    blocks = close(recorder)
    assert [(block.layout_id, block.width) for block in blocks] == [(1, 2), (2, 1)]


def test_unknown_values_come_back_as_unknown(recorder):
    add(recorder, 0, values=(None, 1.0))
    add(recorder, 1, values=(math.nan, math.inf))
    assert [sample.values for sample in recorder.ring(SUBJECT)] == [[None, 1.0], [None, None]]
    summary = close(recorder)[0].summary
    assert (summary.lowest, summary.known) == ([None, 1.0], [0, 1])


@pytest.mark.parametrize("values", [[1.0], [1.0, 2.0, 3.0], []])
def test_another_number_of_values_is_refused(recorder, values):
    with pytest.raises(ValueError, match="are described"):
        recorder.add(SUBJECT, BOOT, 0, 0, 0, values)


def test_a_subject_nobody_described_is_refused(recorder):
    with pytest.raises(LookupError):
        recorder.add(uuid.uuid4(), BOOT, 0, 0, 0, [1.0, 2.0])


def test_the_ring_holds_closed_and_open_states_once_each(recorder):
    add(recorder, 0, 1)
    blocks = close(recorder)
    assert blocks[0].data  # compressed, as after storing
    add(recorder, 1, 2)
    assert [sample.sequence for sample in recorder.ring(SUBJECT)] == [0, 1, 2]
    assert recorder.ring(SUBJECT)[1] == (1, 5_100, 10_100, [1.0, 2.0])
    assert [sample.sequence for sample in recorder.ring(SUBJECT, seconds=0.15)] == [1, 2]


def test_the_ring_forgets_after_two_minutes(recorder, clock):
    for number in range(30):
        add(recorder, number)
        clock.now += 10
        recorder.take_closed()
    assert recorder.figures().ring_blocks == 13


def test_a_forgotten_subject_leaves_its_open_states(recorder):
    add(recorder, 0)
    recorder.forget(SUBJECT)
    assert recorder.ring(SUBJECT) == []
    assert sequences(recorder.take_closed()) == [[0]]


def test_a_flood_closes_blocks_early(recorder):
    add(recorder, *range(MOST_ROWS + 1))
    assert sequences(recorder.take_closed()) == [list(range(MOST_ROWS))]


def test_what_could_not_be_stored_waits_within_bounds_oldest_lost(clock):
    made = Recorder(most_waiting=3 * 8 * 5)  # three blocks of one state of two values
    made.describe(SUBJECT, 1, 2)
    for number in range(4):
        add(made, number)
        made.give_back(close(made))
    assert sequences(made.take_closed()) == [[1], [2], [3]]
    assert made.figures().lost_blocks == 1


@pytest.mark.parametrize("step", [-3_600_000, 3_600_000, -60_000_000])
def test_a_jump_of_the_clock_does_not_stretch_a_block(recorder, step):
    for sequence in range(10):
        recorder.add(SUBJECT, BOOT, sequence, 0, 10**9 + sequence * 100 + (step if sequence > 4 else 0), [1.0, 2.0])
    blocks = close(recorder)
    assert sequences(blocks) == [[0, 1, 2, 3, 4], [5, 6, 7, 8, 9]]
    assert all(block.until_ms - block.since_ms < LONGEST_MS for block in blocks)


def test_a_summary_is_that_of_numpy(recorder):
    rows = np.random.default_rng(3).normal(size=(50, 2))
    for number, row in enumerate(rows.tolist()):
        add(recorder, number, values=row)
    summary = close(recorder)[0].summary
    np.testing.assert_array_equal(summary.lowest, rows.min(axis=0))
    np.testing.assert_array_equal(summary.highest, rows.max(axis=0))
    np.testing.assert_allclose(summary.total, rows.sum(axis=0))
