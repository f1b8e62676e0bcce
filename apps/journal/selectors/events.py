"""Events, and the heads of their streams."""

from collections.abc import Callable, Collection, Sequence
from datetime import datetime, timedelta
from uuid import UUID

from django.db import connection
from django.db.models import Sum

from apps.journal.models import Event, Stream
from apps.journal.types import Recorded
from apps.kernel.errors import NotFound
from apps.kernel.filters import Filter, Listing, Parameters, Sort, identifier, moment, text, whole
from apps.kernel.pagination import Page

LARGEST_POSITION = 2**63 - 1


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


_WIDE = timedelta(hours=1)  # so far a clock may have gone back, or a transaction have lasted, without an event being lost
# Positions and times rise together, but for that: the first position at or after a time, in some twenty steps.
_POSITION_AT = """
WITH RECURSIVE narrowed AS (
    SELECT coalesce(min(position), 0) AS low, coalesce(max(position), -1) + 1 AS high FROM journal_event
    UNION ALL
    SELECT CASE WHEN found.recorded_at < %s THEN middle + 1 ELSE low END,
        CASE WHEN found.recorded_at < %s THEN high ELSE middle END
    FROM (SELECT low, high, (low + high) / 2 AS middle FROM narrowed WHERE low < high) AS halved,
        LATERAL (SELECT recorded_at FROM journal_event WHERE position >= middle ORDER BY position LIMIT 1) AS found
) SELECT low FROM narrowed WHERE low >= high
"""


def _moment_or_utc(value: str) -> datetime:
    """A time as a form sends it, in UTC, or one with its offset."""
    return moment(value if "+" in value or value.endswith("Z") else f"{value}Z")


def _filters(when: Callable[[str], datetime]) -> tuple[Filter, ...]:
    return (
        Filter("type", "type", text, "Exactly this kind of fact, for instance `accounts.role_granted`."),
        Filter("stream", "stream", text, "One stream only."),
        Filter("actor", "actor_id", identifier, "Facts caused by one person, token's owner or machine."),
        Filter("correlation", "correlation_id", text, "Facts of one request."),
        Filter("since", "recorded_at__gte", when, "Recorded at or after this time."),
        Filter("until", "recorded_at__lt", when, "Recorded before this time."),
    )


EVENTS = Listing(filters=_filters(moment), sorts={"position": Sort("position", whole)}, default_sort="-position")
_ON_PAGES = Listing(filters=_filters(_moment_or_utc), sorts=EVENTS.sorts, default_sort=EVENTS.default_sort)


def event_page(site_id: UUID, parameters: Parameters, *, on_page: bool = False) -> Page[Recorded]:
    """Facts of one site as the parameters ask; `on_page` takes times without an offset as UTC. Raises Invalid."""
    listing = _ON_PAGES if on_page else EVENTS
    asked = listing.read(parameters).filters
    rows = Event.objects.filter(site_id=site_id)
    # Without these a list of long ago would read everything that came after it.
    since, until = asked.get("recorded_at__gte"), asked.get("recorded_at__lt")
    if since is not None:
        rows = rows.filter(position__gte=_position_at(since, -_WIDE))
    if until is not None:
        rows = rows.filter(position__lt=_position_at(until, _WIDE))
    page = listing.page(rows, parameters)
    return Page([as_recorded(row) for row in page.rows], page.next_cursor)


def _position_at(at: datetime, wide: timedelta) -> int:
    try:
        at += wide
    except OverflowError:
        return 0 if wide < timedelta(0) else LARGEST_POSITION
    with connection.cursor() as cursor:
        cursor.execute(_POSITION_AT, [at, at])
        found = cursor.fetchone()
    return int(found[0]) if found else 0


OF_STREAM = Listing(
    filters=tuple(one for one in EVENTS.filters if one.name != "stream"),
    sorts={"sequence": Sort("sequence", whole)},  # in a stream the same order as positions, and the one that has an index
    default_sort="-sequence",
)


def stream_page(stream: str, parameters: Parameters) -> Page[Recorded]:
    """Facts of one stream as the parameters ask, newest first. Raises Invalid."""
    page = OF_STREAM.page(Event.objects.filter(stream=stream), parameters)
    return Page([as_recorded(row) for row in page.rows], page.next_cursor)


_EXPORT = Listing(filters=(Filter("earlier", "size", whole, "Size of a checkpoint that whoever asks holds."),))


def earlier_asked(parameters: Parameters) -> list[int]:
    """The sizes of checkpoints that an export shall be compared at. Raises Invalid."""
    return list(_EXPORT.read(parameters).filters.values())


def event_of_site(site_id: UUID, event_id: UUID) -> Recorded:
    """One fact of one site. Raises NotFound."""
    found = Event.objects.filter(site_id=site_id, id=event_id).first()
    if found is None:
        raise NotFound("There is nothing here.")
    return as_recorded(found)
