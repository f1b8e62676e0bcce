"""Whatever order, repetition and loss samples arrive with: what was added is read back, once, and charts are numpy's."""

import uuid
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from django.db import transaction
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st

from apps.telemetry.recording import Recorder
from apps.telemetry.selectors import samples, series
from apps.telemetry.services import write_blocks
from tests.factories.accounts import make_site
from tests.factories.telemetry import BEGAN_MS, describe_subject

NAMES = ("joint", "grip", "load")
VALUE = st.one_of(st.none(), st.floats(-1e6, 1e6), st.integers(-1000, 1000).map(lambda value: value / 100))
CLOSE = "close"


@dataclass
class Stream:
    """What a gateway gets: states in the order of their arrival, and when it closes blocks."""

    arrivals: list[Any]
    expected: dict[tuple[uuid.UUID, int], tuple[int, int, list[float | None]]] = field(default_factory=dict)
    repeats: int = 0


@st.composite
def streams(draw):
    found = Stream([])
    at_ms = BEGAN_MS
    for boot in [uuid.UUID(int=number) for number in range(1, draw(st.integers(2, 3)))]:
        first = draw(st.integers(0, 1000))
        sequences = range(first, first + draw(st.integers(1, 80)))
        kept = draw(st.lists(st.sampled_from(sequences), min_size=1, max_size=120))  # with repetitions, in any order
        if draw(st.booleans()):
            kept.sort()
        for sequence in kept:
            at_ms += draw(st.integers(1, 4000))
            values = draw(st.lists(VALUE, min_size=3, max_size=3))
            device_ms = BEGAN_MS + sequence * 100
            if (boot, sequence) in found.expected:
                found.repeats += 1
            found.expected.setdefault((boot, sequence), (device_ms, at_ms, values))
            found.arrivals.append((boot, sequence, device_ms, at_ms, values))
            if draw(st.integers(0, 15)) == 0:
                found.arrivals.append(CLOSE)
    return found


def take(stream: Stream, layout) -> None:
    """Through the recorder into the table; every second batch is given twice, as after an answer that got lost."""
    recorder = Recorder()
    recorder.describe(layout.subject.id, layout.id, len(NAMES))
    for number, arrival in enumerate([*stream.arrivals, CLOSE]):
        if arrival == CLOSE:
            blocks = recorder.take_closed(everything=True)
            write_blocks(blocks)
            if number % 2:
                write_blocks(blocks)
        else:
            recorder.add(layout.subject.id, *arrival)


@pytest.mark.django_db
@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(stream=streams(), pixels=st.integers(1, 60), data=st.data())
def test_what_was_added_is_what_is_read_back(db, stream, pixels, data):
    with transaction.atomic():
        layout = describe_subject(make_site(f"hall-{uuid.uuid4().hex[:8]}"), uuid.uuid4(), NAMES)
        take(stream, layout)
        end = stream.arrivals[-1][3] if stream.arrivals[-1] != CLOSE else stream.arrivals[-2][3]
        event(f"repeats: {min(stream.repeats, 3)}")
        found = samples(layout.subject, since_ms=BEGAN_MS, until_ms=end + 1)
        read = {
            (one.boot, one.sequence): (one.device_ms, one.received_ms, [one.values[name] for name in NAMES]) for one in found
        }
        assert len(found) == len(read)
        assert read == stream.expected
        since_ms = data.draw(st.integers(BEGAN_MS, end))
        until_ms = data.draw(st.integers(since_ms + 1, end + 5000))
        names = data.draw(st.lists(st.sampled_from(NAMES), min_size=1, max_size=3, unique=True))
        compare(layout, stream, since_ms, until_ms, pixels, names)
        transaction.set_rollback(True)


def compare(layout, stream: Stream, since_ms: int, until_ms: int, pixels: int, names: list[str]) -> None:
    """A chart of any part of it, against numpy over the states themselves."""
    chart = series(layout.subject, channels=names, since_ms=since_ms, until_ms=until_ms, pixels=pixels)
    inside = [(at, values) for _, at, values in stream.expected.values() if since_ms <= at < until_ms]
    assert sum(chart.count) == len(inside)
    assert len(chart.count) <= pixels
    for number, count in enumerate(chart.count):
        begins = since_ms + number * chart.pixel_ms
        here = [values for at, values in inside if begins <= at < begins + chart.pixel_ms]
        assert count == len(here)
        for name, channel in zip(names, chart.channels, strict=True):
            known = np.array([row[NAMES.index(name)] for row in here if row[NAMES.index(name)] is not None], np.float64)
            if not len(known):
                assert (channel.lowest[number], channel.highest[number], channel.mean[number]) == (None, None, None)
                continue
            assert (channel.lowest[number], channel.highest[number]) == (known.min(), known.max())
            assert channel.mean[number] == pytest.approx(known.mean(), rel=1e-9, abs=1e-6)
