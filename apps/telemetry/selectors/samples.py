"""Stored states one by one: the newest, or all of a short time."""

from collections.abc import Sequence
from uuid import UUID

from apps.kernel.errors import Invalid
from apps.kernel.types import SubjectRef
from apps.telemetry.models import Block
from apps.telemetry.recording import LONGEST_MS
from apps.telemetry.recording.coding import decode, listed
from apps.telemetry.selectors.layouts import layouts_of
from apps.telemetry.types import Layout, StoredSample

MOST_BLOCKS = 400  # an hour of one subject, decoded in some tens of milliseconds


def samples(subject: SubjectRef, *, since_ms: int, until_ms: int) -> list[StoredSample]:
    """Every stored state received from `since_ms` until before `until_ms`, by receipt. Raises NotFound, Invalid if too many."""
    layouts = {layout.id: layout for layout in layouts_of(subject)}
    rows = Block.objects.filter(layout_id__in=layouts, until_ms__gte=since_ms, until_ms__lt=until_ms + LONGEST_MS)
    blocks = list(rows.filter(since_ms__lt=until_ms).order_by("since_ms", "id")[: MOST_BLOCKS + 1])
    if len(blocks) > MOST_BLOCKS:
        raise Invalid("That is too long to be read state by state.", fields={"until": ["Give a shorter time."]})
    found: dict[tuple[UUID, int], StoredSample] = {}
    for block in blocks:
        for sample in _samples(block, layouts[block.layout_id]):
            if since_ms <= sample.received_ms < until_ms:
                found.setdefault((sample.boot, sample.sequence), sample)
    return sorted(found.values(), key=lambda sample: (sample.received_ms, sample.sequence))


def latest(subject: SubjectRef) -> StoredSample | None:
    """The newest stored state, or None where nothing is stored. Raises NotFound."""
    layouts = {layout.id: layout for layout in layouts_of(subject)}
    block = Block.objects.filter(layout_id__in=layouts).order_by("-until_ms").first()
    if block is None:
        return None
    return max(_samples(block, layouts[block.layout_id]), key=lambda sample: sample.received_ms)


def _samples(block: Block, layout: Layout) -> Sequence[StoredSample]:
    names = [channel.name for channel in layout.channels]
    return [
        StoredSample(block.boot, sequence, device_ms, received_ms, dict(zip(names, values, strict=True)))
        for sequence, device_ms, received_ms, values in listed(decode(bytes(block.data)))
    ]
