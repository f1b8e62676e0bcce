"""Events, and the heads of their streams."""

from collections.abc import Collection, Sequence
from uuid import UUID

from django.db.models import Sum

from apps.journal.models import Event, Stream
from apps.journal.types import Recorded
from apps.kernel.errors import NotFound
from apps.kernel.filters import Filter, Listing, Parameters, Sort, identifier, moment, text, whole
from apps.kernel.pagination import Page


def as_recorded(event: Event) -> Recorded:
    """A row as the frozen type that leaves the journal."""
    return Recorded(
        position=event.position,
        id=event.id,
        stream=event.stream,
        sequence=event.sequence,
        type=event.type,
        version=event.version,
        payload=event.payload,
        site_id=event.site_id,
        actor_kind=event.actor_kind,
        actor_id=event.actor_id,
        actor_name=event.actor_name,
        correlation_id=event.correlation_id,
        recorded_at=event.recorded_at,
        previous=bytes(event.previous),
        digest=bytes(event.digest),
    )


def events_after(stream: str, sequence: int, *, most: int = 200) -> list[Recorded]:
    """The next events of a stream, oldest first."""
    rows = Event.objects.filter(stream=stream, sequence__gt=sequence).order_by("sequence")[:most]
    return [as_recorded(row) for row in rows]


def newest_events(stream: str, *, most: int = 50) -> list[Recorded]:
    """The newest events of a stream, newest first."""
    return [as_recorded(row) for row in Event.objects.filter(stream=stream).order_by("-sequence")[:most]]


def heads(streams: Sequence[str]) -> dict[str, int]:
    """The last sequence of each stream; 0 for one that is empty."""
    found = dict(Stream.objects.filter(name__in=streams).values_list("name", "sequence"))
    return {stream: found.get(stream, 0) for stream in streams}


def counts_of_sites(site_ids: Collection[UUID]) -> dict[UUID, int]:
    """How many facts each site has, over all its streams: grows by one with each, whatever the order of commits."""
    rows = Stream.objects.filter(site_id__in=site_ids).values_list("site_id").annotate(count=Sum("sequence"))
    return {site_id: int(count) for site_id, count in rows}


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


OF_STREAM = Listing(
    filters=tuple(one for one in EVENTS.filters if one.name != "stream"),
    sorts={"sequence": Sort("sequence", whole)},  # in a stream the same order as positions, and the one that has an index
    default_sort="-sequence",
)


def stream_page(stream: str, parameters: Parameters) -> Page[Recorded]:
    """Facts of one stream as the parameters ask, newest first. Raises Invalid."""
    page = OF_STREAM.page(Event.objects.filter(stream=stream), parameters)
    return Page([as_recorded(row) for row in page.rows], page.next_cursor)


def event_of_site(site_id: UUID, event_id: UUID) -> Recorded:
    """One fact of one site. Raises NotFound."""
    found = Event.objects.filter(site_id=site_id, id=event_id).first()
    if found is None:
        raise NotFound("There is nothing here.")
    return as_recorded(found)
