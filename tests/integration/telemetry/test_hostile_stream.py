"""A stream as a bad network makes it, beside the same one as it was sent."""

import random
import uuid

import pytest

from apps.telemetry.recording import Recorder
from apps.telemetry.selectors import samples, series
from apps.telemetry.services import write_blocks
from tests.factories.telemetry import BEGAN_MS, describe_subject

pytestmark = pytest.mark.django_db
RUNS, LENGTH = 2, 600  # the bridge is started again once; a minute each
FAR = 40  # how far a state may come too early or too late


def sent():
    """What two runs of one bridge send: sequences begin anew in the second."""
    boots = [uuid.UUID(int=number + 1) for number in range(RUNS)]
    return [
        (boot, sequence, BEGAN_MS + (run * LENGTH + sequence) * 100, [float(sequence), float(run)])
        for run, boot in enumerate(boots)
        for sequence in range(LENGTH)
    ]


def mangled(states, source):
    """Each three times, out of order, a fifth of them not at all; and what is left of them in the order of sending."""
    kept = [state for state in states if source.random() > 0.2 or state[1] in {0, LENGTH - 1}]
    arriving = [(place + source.uniform(0, FAR), state) for place, state in enumerate(kept) for _ in range(3)]
    boots = [state[0] for state in states]
    return [state for _, state in sorted(arriving, key=lambda one: (boots.index(one[1][0]), one[0]))], kept


def record(layout, arriving):
    """Through a recorder whose blocks close at moments of no meaning."""
    recorder = Recorder()
    recorder.describe(layout.subject.id, layout.id, 2)
    for number, (boot, sequence, at_ms, values) in enumerate(arriving):
        recorder.add(layout.subject.id, boot, sequence, at_ms, at_ms, values)
        if number % 211 == 210:
            write_blocks(recorder.take_closed(everything=True))
    write_blocks(recorder.take_closed(everything=True))
    return recorder.figures()


def read(layout):
    found = samples(layout.subject, since_ms=BEGAN_MS, until_ms=BEGAN_MS + RUNS * LENGTH * 100)
    return [(one.boot, one.sequence, one.received_ms, list(one.values.values())) for one in found]


def test_repeated_reordered_lost_and_restarted_it_reads_as_it_was_sent(site):
    """Attack 12: telemetry three times over, reordered, a fifth lost, numbers begun anew: the clean stream, its gaps marked."""
    clean, hostile = (describe_subject(site, uuid.uuid4()) for _ in "12")
    record(clean, sent())
    arriving, kept = mangled(sent(), random.Random(12))
    figures = record(hostile, arriving)
    assert figures.repeated == 2 * len(kept)
    assert read(clean) == sent()
    assert read(hostile) == kept
    charts = [
        series(one.subject, since_ms=BEGAN_MS, until_ms=BEGAN_MS + RUNS * LENGTH * 100, pixels=12) for one in (clean, hostile)
    ]
    assert [gap.reason for gap in charts[0].gaps] == [gap.reason for gap in charts[1].gaps] == ["restart"]
    assert sum(charts[0].missing) == 0
    assert sum(charts[1].missing) == len(sent()) - len(kept)
    for whole, left in zip(charts[0].count, charts[1].count, strict=True):
        assert 0.6 * whole < left < whole
