"""Reads of the journal."""

from collections.abc import Iterator, Sequence
from uuid import UUID

from apps.journal.lifecycle import faults
from apps.journal.models import Event, Stream
from apps.journal.services import as_recorded
from apps.journal.types import ChainFault, Recorded


def events_after(stream: str, sequence: int, *, most: int = 200) -> list[Recorded]:
    """The next events of a stream, oldest first."""
    rows = Event.objects.filter(stream=stream, sequence__gt=sequence).order_by("sequence")[:most]
    return [as_recorded(row) for row in rows]


def heads(streams: Sequence[str]) -> dict[str, int]:
    """The last sequence of each stream; 0 for one that is empty."""
    found = dict(Stream.objects.filter(name__in=streams).values_list("name", "sequence"))
    return {stream: found.get(stream, 0) for stream in streams}


def events_of_site(site_id: UUID, *, before: int | None = None, most: int = 50) -> list[Recorded]:
    """Newest events of one site, before a position."""
    rows = Event.objects.filter(site_id=site_id)
    if before is not None:
        rows = rows.filter(position__lt=before)
    return [as_recorded(row) for row in rows.order_by("-position")[:most]]


def chain_faults() -> Iterator[ChainFault]:
    """Walk every stream and yield the first fault of each."""
    rows = Event.objects.order_by("stream", "sequence").iterator(chunk_size=2000)
    current = {
        name: (sequence, bytes(digest)) for name, sequence, digest in Stream.objects.values_list("name", "sequence", "digest")
    }
    yield from faults((as_recorded(row) for row in rows), current)
