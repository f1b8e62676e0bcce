"""Whether the journal holds, as far as the database itself can show."""

from collections.abc import Iterator

from django.db import connection
from django.db.models import Exists, OuterRef, Q, Subquery

from apps.journal.lifecycle import Head, faults
from apps.journal.models import Event, Stream
from apps.journal.selectors.events import as_recorded
from apps.journal.types import ChainFault, Recorded

TRIGGERS = ("journal_event_insert_only", "journal_event_no_truncate")
_ENABLED = """
SELECT count(*) FROM pg_trigger WHERE tgrelid = 'journal_event'::regclass AND tgname = ANY(%s) AND tgenabled = 'O'
"""


def size() -> tuple[int, int]:
    """How many streams and events there are."""
    return Stream.objects.filter(sequence__gt=0).count(), Event.objects.count()


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
