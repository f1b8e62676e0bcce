"""States that come twice, or in the wrong order."""

from workers.edge.arms.telemetry import COPIES, Disorder
from workers.protocol import State


def state(subject, sequence):
    return State(subject=subject, sequence=sequence, at_ms=sequence, values=[1.0])


def sent(disorder, count=6):
    found = []
    for sequence in range(1, count + 1):
        found += [(one.subject, one.sequence) for one in disorder([state(0, sequence), state(1, sequence)])]
    return [sequence for subject, sequence in found if subject == 0], [sequence for subject, sequence in found if subject == 1]


def test_without_faults_nothing_changes():
    assert sent(Disorder(lambda _: False, lambda _: False)) == ([1, 2, 3, 4, 5, 6],) * 2


def test_duplicates_come_several_times():
    first, other = sent(Disorder(lambda place: place == 0, lambda _: False), 2)
    assert first == [1] * COPIES + [2] * COPIES
    assert other == [1, 2]


def test_the_newer_one_overtakes():
    first, other = sent(Disorder(lambda _: False, lambda place: place == 0))
    assert first == [2, 1, 4, 3, 6, 5]
    assert other == [1, 2, 3, 4, 5, 6]


def test_what_was_kept_back_is_let_go_when_the_fault_ends():
    on = True
    disorder = Disorder(lambda _: False, lambda _: on)
    assert disorder([state(0, 1)]) == []
    on = False
    assert [one.sequence for one in disorder([state(0, 2)])] == [2, 1]
    assert [one.sequence for one in disorder([state(0, 3)])] == [3]
