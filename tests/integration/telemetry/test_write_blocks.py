import uuid

import pytest

from apps.telemetry.models import Block
from apps.telemetry.recording import Recorder
from apps.telemetry.recording.coding import decode
from apps.telemetry.services import describe, write_blocks
from workers.protocol import Channel, Described

pytestmark = pytest.mark.django_db


@pytest.fixture
def subject_id():
    return uuid.uuid4()


@pytest.fixture
def layout(site, subject_id):
    channels = [Channel(name="joint", unit="rad", low=-1.0, high=1.0), Channel(name="grip")]
    described = Described(subject=f"robot:{subject_id}", kind="arm", channels=channels)
    return describe(site_id=site.id, described=[described])[subject_id]


def recorded(layout, values, boot=None):
    """A recorder that took these values, one state every 100 ms."""
    recorder = Recorder()
    recorder.describe(layout.subject.id, layout.id, len(layout.channels))
    boot = boot or uuid.uuid4()
    for number, row in enumerate(values):
        recorder.add(layout.subject.id, boot, number, 5_000 + number * 100, 1_000_000 + number * 100, row)
    return recorder


def test_a_block_is_stored_as_it_was_taken(layout):
    values = [[0.5, 1.0], [None, 2.0], [-0.25, None]]
    assert write_blocks(recorded(layout, values).take_closed(everything=True)) == 1
    block = Block.objects.get()
    assert (block.count, block.first_sequence, block.last_sequence) == (3, 0, 2)
    assert (block.since_ms, block.until_ms) == (1_000_000, 1_000_200)
    assert (block.lowest, block.highest) == ([-0.25, 1.0], [0.5, 2.0])
    assert (block.total, block.known) == ([0.25, 3.0], [2, 2])
    rows = decode(bytes(block.data))
    assert rows[:, 1].tolist() == [5_000.0, 5_100.0, 5_200.0]
    assert rows[0, 3:].tolist() == [0.5, 1.0]


def test_storing_a_block_twice_is_storing_it_once(layout):
    blocks = recorded(layout, [[1.0, 2.0]] * 5).take_closed(everything=True)
    write_blocks(blocks)
    write_blocks(blocks)
    assert Block.objects.count() == 1


def test_a_channel_of_which_nothing_is_known_can_be_stored(layout):
    write_blocks(recorded(layout, [[None, None]] * 3).take_closed(everything=True))
    block = Block.objects.get()
    assert (block.lowest, block.highest, block.total, block.known) == ([None, None], [None, None], [0.0, 0.0], [0, 0])


def test_many_blocks_go_in_parts(layout, monkeypatch):
    monkeypatch.setattr("apps.telemetry.services.blocks.MOST_AT_ONCE", 2)
    blocks = [recorded(layout, [[1.0, 2.0]]).take_closed(everything=True)[0] for _ in range(5)]
    write_blocks(blocks)
    assert Block.objects.count() == 5
