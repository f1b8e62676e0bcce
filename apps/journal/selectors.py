"""Reads of the journal."""

from collections.abc import Iterator, Sequence
from uuid import UUID

from apps.journal.lifecycle import faults
from apps.journal.models import Event, Stream
from apps.journal.services import as_recorded
from apps.journal.types import ChainFault, Recorded
from apps.kernel.errors import NotFound
from apps.kernel.filters import Filter, Listing, Parameters, Sort, identifier, moment, text, whole
from apps.kernel.pagination import Page


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


EVENTS = Listing(
    filters=(
        Filter("type", "type", text, "Exactly this kind of fact, for instance `accounts.role_granted`."),
        Filter("stream", "stream", text, "One stream only."),
        Filter("actor", "actor_id", identifier, "Facts caused by one person, token's owner or machine."),
        Filter("correlation", "correlation_id", text, "Facts of one request."),
        Filter("since", "recorded_at__gte", moment, "Recorded at or after this time."),
        Filter("until", "recorded_at__lt", moment, "Recorded before this time."),
    ),
    sorts={"position": Sort("position", whole)},
    default_sort="-position",
)


def event_page(site_id: UUID, parameters: Parameters) -> Page[Recorded]:
    """Facts of one site as the parameters ask. Raises Invalid."""
    page = EVENTS.page(Event.objects.filter(site_id=site_id), parameters)
    return Page([as_recorded(row) for row in page.rows], page.next_cursor)


def event_of_site(site_id: UUID, event_id: UUID) -> Recorded:
    """One fact of one site. Raises NotFound."""
    found = Event.objects.filter(site_id=site_id, id=event_id).first()
    if found is None:
        raise NotFound("There is nothing here.")
    return as_recorded(found)


def chain_faults() -> Iterator[ChainFault]:
    """Walk every stream and yield the first fault of each."""
    rows = Event.objects.order_by("stream", "sequence").iterator(chunk_size=2000)
    current = {
        name: (sequence, bytes(digest)) for name, sequence, digest in Stream.objects.values_list("name", "sequence", "digest")
    }
    yield from faults((as_recorded(row) for row in rows), current)
