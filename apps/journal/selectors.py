"""Reads of the journal."""

from collections.abc import Collection, Iterator, Sequence
from uuid import UUID

from django.db import connection
from django.db.models import Exists, OuterRef, Q, Subquery, Sum

from apps.journal.lifecycle import Head, faults
from apps.journal.models import Event, Stream
from apps.journal.services import as_recorded
from apps.journal.types import ChainFault, Recorded
from apps.kernel.errors import NotFound
from apps.kernel.filters import Filter, Listing, Parameters, Sort, identifier, moment, text, whole
from apps.kernel.pagination import Page

TRIGGERS = ("journal_event_insert_only", "journal_event_no_truncate")
_ENABLED = """
SELECT count(*) FROM pg_trigger WHERE tgrelid = 'journal_event'::regclass AND tgname = ANY(%s) AND tgenabled = 'O'
"""
# What never ran is as late as the first event is old.
_LAG = """
SELECT coalesce(greatest(0, extract(epoch FROM clock_timestamp() - coalesce(
    (SELECT caught_up_at FROM journal_tail_state WHERE id = 1 AND caught_up_at > 'epoch'),
    (SELECT recorded_at FROM journal_event ORDER BY position LIMIT 1)))), 0)
"""


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


def event_of_site(site_id: UUID, event_id: UUID) -> Recorded:
    """One fact of one site. Raises NotFound."""
    found = Event.objects.filter(site_id=site_id, id=event_id).first()
    if found is None:
        raise NotFound("There is nothing here.")
    return as_recorded(found)


def size() -> tuple[int, int]:
    """How many streams and events there are."""
    return Stream.objects.filter(sequence__gt=0).count(), Event.objects.count()


def tail_lag_s() -> float:
    """Seconds since the tail had numbered everything that was committed: under one while it keeps up.

    It grows while events wait and while nobody holds the tail, with or without events; 0 for a journal without any.
    """
    with connection.cursor() as cursor:
        cursor.execute(_LAG)
        return float(cursor.fetchone()[0])


def trouble() -> str:
    """What is plainly wrong with the journal at this moment, cheaply asked; empty when nothing is."""
    with connection.cursor() as cursor:
        cursor.execute(_ENABLED, [list(TRIGGERS)])
        if cursor.fetchone()[0] != len(TRIGGERS):
            return "the event table is not protected"
    newest = Event.objects.order_by("-position").first()
    if newest is None:
        return ""
    head = Stream.objects.filter(name=newest.stream).first()
    if head is None or head.sequence < newest.sequence:
        return "a stream goes on past its head"
    if head.sequence == newest.sequence and bytes(head.digest) != bytes(newest.digest):
        return "a head does not match its last event"
    return ""


# A digest covers the site of its event; the head's own copy of it is checked against them.
_ELSEWHERE = """
    SELECT head.name, head.site_id, head.sequence, head.digest FROM journal_stream head
    JOIN journal_event first ON first.stream = head.name AND first.sequence = 1
    WHERE first.site_id IS DISTINCT FROM head.site_id ORDER BY head.name
"""


def chain_faults(*, chunk: int = 2000) -> Iterator[ChainFault]:
    """Walk every stream and yield the first fault of each. Short statements, so that it may run beside appends."""
    yield from faults(_events_with_heads(chunk))
    empty = Stream.objects.filter(~Exists(Event.objects.filter(stream=OuterRef("name"))), sequence__gt=0)
    for name in empty.order_by("name").values_list("name", flat=True):
        yield ChainFault(name, 1, "the stream ends before its head")
    for row in Stream.objects.raw(_ELSEWHERE):
        yield ChainFault(row.name, 1, "the stream is filed under another site than its events")


def _events_with_heads(chunk: int) -> Iterator[tuple[Recorded, Head | None]]:
    """Every event by stream and sequence, with the head its stream had when it was read."""
    head = Stream.objects.filter(name=OuterRef("stream"))
    rows = Event.objects.annotate(
        head_sequence=Subquery(head.values("sequence")), head_digest=Subquery(head.values("digest"))
    ).order_by("stream", "sequence")
    last: Event | None = None
    while True:
        after = (
            rows if last is None else rows.filter(Q(stream__gt=last.stream) | Q(stream=last.stream, sequence__gt=last.sequence))
        )
        found = list(after[:chunk])
        for row in found:
            known = row.head_sequence is not None
            yield as_recorded(row), (row.head_sequence, bytes(row.head_digest)) if known else None
        if len(found) < chunk:
            return
        last = found[-1]
