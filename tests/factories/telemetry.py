"""Subjects that measure something."""

from collections.abc import Sequence
from uuid import UUID, uuid4

from apps.accounts.models import Site
from apps.telemetry.models import Block, Layout
from apps.telemetry.recording import Recorder
from apps.telemetry.services import describe, write_blocks
from apps.telemetry.services.layouts import layout_of
from apps.telemetry.types import Layout as KnownLayout
from workers.protocol import Channel, Described

BEGAN_MS = 1_790_000_000_000


def describe_subject(site: Site, subject_id: UUID, names: Sequence[str] = ("joint", "grip")) -> KnownLayout:
    """A robot of the site with channels of these names."""
    channels = [Channel(name=name, unit="rad", low=-1.0, high=1.0) for name in names]
    return describe(site_id=site.id, described=[Described(subject=f"robot:{subject_id}", kind="arm", channels=channels)])[
        subject_id
    ]


def recorder_for(*layouts: KnownLayout) -> Recorder:
    """A recorder that knows these subjects."""
    recorder = Recorder()
    for layout in layouts:
        recorder.describe(layout.subject.id, layout.id, len(layout.channels))
    return recorder


def record(layout: KnownLayout, values: Sequence[Sequence[float | None]], *, boot: UUID | None = None, first: int = 0) -> None:
    """Store one state every 100 ms, numbered from `first`."""
    recorder, boot = recorder_for(layout), boot or uuid4()
    for number, row in enumerate(values, first):
        at_ms = BEGAN_MS + number * 100
        recorder.add(layout.subject.id, boot, number, at_ms - 40, at_ms, list(row))
    write_blocks(recorder.take_closed(everything=True))


def make_layout(site: Site, _person: object = None, name: str = "joint") -> Layout:
    """What a robot of the site measures, one channel of this name."""
    return Layout.objects.get(id=describe_subject(site, uuid4(), [name]).id)


def make_block(layout: Layout) -> Block:
    """One stored block."""
    record(layout_of(layout), [[1.0] * len(layout.channels)])
    return Block.objects.get(layout=layout)
