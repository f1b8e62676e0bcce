import uuid

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from apps.kernel.errors import Invalid, NotFound
from apps.kernel.types import SubjectRef
from apps.telemetry.recording import Recorder
from apps.telemetry.recording.coding import decode
from apps.telemetry.selectors import latest, samples, series, storage
from apps.telemetry.services import write_blocks
from tests.factories.telemetry import BEGAN_MS, describe_subject, record

pytestmark = pytest.mark.django_db


@pytest.fixture
def layout(site):
    return describe_subject(site, uuid.uuid4())


def chart(layout, seconds=10.0, pixels=10, **more):
    return series(layout.subject, since_ms=BEGAN_MS, until_ms=BEGAN_MS + int(seconds * 1000), pixels=pixels, **more)


def test_each_pixel_has_lowest_highest_and_mean(layout):
    record(layout, [[number, -number] for number in range(100)])
    found = chart(layout)
    assert found.pixel_ms == 1000
    assert found.count == [10] * 10
    joint, grip = found.channels
    assert (joint.lowest[3], joint.highest[3], joint.mean[3]) == (30.0, 39.0, 34.5)
    assert (grip.lowest[0], grip.highest[0]) == (-9.0, 0.0)
    assert joint.channel.unit == "rad"
    assert found.gaps == []


def test_what_is_empty_is_marked_and_not_bridged(layout):
    boot = uuid.uuid4()
    record(layout, [[1.0, 1.0]] * 10, boot=boot)
    record(layout, [[2.0, 2.0]] * 10, boot=boot, first=60)
    found = chart(layout, seconds=7, pixels=7)
    assert found.channels[0].mean == [1.0, None, None, None, None, None, 2.0]
    assert found.count == [10, 0, 0, 0, 0, 0, 10]
    assert [(gap.since_ms - BEGAN_MS, gap.until_ms - BEGAN_MS, gap.reason, gap.missing) for gap in found.gaps] == [
        (900, 6000, "silent", 50)
    ]
    assert sum(found.missing) == 50


def test_a_new_boot_is_a_gap_of_its_own_kind(layout):
    record(layout, [[1.0, 1.0]] * 10)
    record(layout, [[2.0, 2.0]] * 10, first=20)
    assert [gap.reason for gap in chart(layout).gaps] == ["restart"]
    assert sum(chart(layout).missing) == 0


def test_lost_states_are_counted_where_they_are_missed_and_late_ones_taken_off(layout):
    recorder, boot = Recorder(), uuid.uuid4()
    recorder.describe(layout.subject.id, layout.id, 2)

    def take(*sequences, at_ms=None):
        for sequence in sequences:
            recorder.add(layout.subject.id, boot, sequence, 0, BEGAN_MS + (at_ms or sequence * 100), [1.0, 1.0])
        write_blocks(recorder.take_closed(everything=True))

    take(*(number for number in range(50) if number not in {12, 13, 31}))
    assert chart(layout, pixels=10).missing == [0, 2, 0, 1, 0, 0, 0, 0, 0, 0]
    take(*range(55, 60))
    assert chart(layout, pixels=10).missing == [0, 2, 0, 1, 0, 5, 0, 0, 0, 0]
    assert sum(chart(layout, seconds=1000, pixels=1).missing) == 8
    take(31, 12, 50, at_ms=6500)
    assert sum(chart(layout).missing) == 5
    assert sum(chart(layout, seconds=1000, pixels=1).missing) == 5


def test_a_long_time_costs_as_many_statements_as_a_short_one(layout, monkeypatch):
    decoded = []
    monkeypatch.setattr("apps.telemetry.selectors.charts.decode", lambda data: decoded.append(1) or decode(data))
    boot = uuid.uuid4()
    for number in range(30):
        record(layout, [[1.0, 2.0]] * 10, boot=boot, first=number * 10)
    for seconds, pixels in ((30, 300), (30, 10), (30, 1), (3000, 1)):
        decoded.clear()
        with CaptureQueriesContext(
            connection,
        ) as caught:
            chart(layout, seconds=seconds, pixels=pixels)
        assert len(caught) == 4
        assert len(decoded) <= pixels


def test_channels_are_found_by_name_whatever_layout_they_were_stored_with(site, layout):
    boot = uuid.uuid4()
    record(layout, [[1.0, 5.0]] * 10, boot=boot)
    other = describe_subject(site, layout.subject.id, ["grip", "new", "joint"])
    assert other.id != layout.id
    record(other, [[6.0, 7.0, 2.0]] * 10, boot=boot, first=10)
    for pixels in (2, 20):
        found = chart(layout, seconds=2, pixels=pixels, channels=["joint", "new"])
        joint, new = found.channels
        assert joint.mean[0], joint.mean[-1] == (1.0, 2.0)
        assert (new.mean[0], new.mean[-1]) == (None, 7.0)


def test_a_subject_of_another_site_is_not_found(other_site, layout):
    record(layout, [[1.0, 1.0]])
    with pytest.raises(NotFound):
        series(SubjectRef("robot", layout.subject.id, site_id=other_site.id), since_ms=0, until_ms=1)
    with pytest.raises(NotFound):
        series(SubjectRef("device", layout.subject.id, site_id=layout.subject.site_id), since_ms=0, until_ms=1)


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"channels": ["no such"]}, "channels"),
        ({"pixels": 0}, "pixels"),
        ({"pixels": 2001}, "pixels"),
        ({"until_ms": 0}, "until"),
        ({"since_ms": -5}, "until"),
        ({"until_ms": 10**15}, "since"),
    ],
)
def test_what_makes_no_sense_is_refused(layout, given, field):
    with pytest.raises(Invalid) as refused:
        series(layout.subject, **({"since_ms": 0, "until_ms": 10} | given))
    assert set(refused.value.fields) == {field}


def test_the_newest_state_and_the_states_of_a_short_time(layout):
    assert latest(layout.subject) is None
    record(layout, [[number, None] for number in range(20)])
    newest = latest(layout.subject)
    assert newest is not None
    assert (newest.sequence, newest.values) == (19, {"joint": 19.0, "grip": None})
    found = samples(layout.subject, since_ms=BEGAN_MS + 500, until_ms=BEGAN_MS + 700)
    assert [one.sequence for one in found] == [5, 6]
    assert found[0].device_ms == BEGAN_MS + 460


def test_storage_tells_the_oldest_and_the_newest(layout):
    assert storage().oldest_ms is None
    record(layout, [[1.0, 1.0]] * 10)
    assert (storage().oldest_ms, storage().newest_ms) == (BEGAN_MS + 900, BEGAN_MS + 900)
    assert storage().table_bytes > 0
