"""Reads of Stop."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from uuid import UUID

from django.db.models import Count, F, Q, Window
from django.db.models.functions import RowNumber

from apps.control.events import site_stream
from apps.control.models import Stop, StopPolicy, StopSubject
from apps.control.types import ActiveStop, ClearRequest, Phase, StoppedSubject
from apps.journal import selectors as journal
from apps.kernel import clock, filters
from apps.kernel.errors import NotFound
from apps.kernel.filters import Filter, Listing, Parameters, Sort
from apps.kernel.pagination import Page
from apps.kernel.selectors import SubjectWords, words_of
from apps.kernel.types import SubjectRef

SHOWN_SUBJECTS = 24
MOST_NAMED = 1000
MOST_STANDING = 50
STOPS = Listing(
    filters=(
        Filter("phase", "phase", filters.choice(Phase), "One phase only."),
        Filter("subject", "subjects__subject_id", filters.identifier, "Stops that named or reached one subject."),
    ),
    sorts={"age": Sort("recorded_at", filters.moment)},
)


@dataclass(frozen=True)
class StopRow:
    """One Stop as pages show it: how many subjects it was sent to, how many said it is in effect, how many that it ended."""

    stop: Stop
    subjects: tuple[StoppedSubject, ...]
    of: int
    confirmed: int
    released: int

    @property
    def unconfirmed(self) -> int:
        """How many have not said that they stand."""
        return self.of - self.confirmed

    @property
    def more(self) -> int:
        """How many subjects are not listed here."""
        return self.of - len(self.subjects)

    @property
    def clear(self) -> ClearRequest | None:
        """What a second person may confirm now."""
        asked = self.stop.clear if self.stop.phase == Phase.CLEAR_REQUESTED else None
        return asked if asked is not None and asked.expires_at > clock.now() else None


def active_stops(site_ids: Collection[UUID] | None = None) -> list[ActiveStop]:
    """Every Stop that is not cleared, at these sites or anywhere: two queries, by an index that holds only those."""
    rows = Stop.objects.exclude(phase=Phase.CLEARED)
    if site_ids is not None:
        rows = rows.filter(site_id__in=site_ids)
    found = list(rows.order_by("recorded_at", "id"))
    subjects: dict[UUID, set[str]] = {row.id: set() for row in found}
    # Not as rows of the ORM: a gateway asks this every second, and a site may have a thousand robots.
    named = StopSubject.objects.filter(stop_id__in=list(subjects)) if found else StopSubject.objects.none()
    for stop_id, kind, subject_id in named.values_list("stop_id", "kind", "subject_id"):
        subjects[stop_id].add(f"{kind}:{subject_id}")
    return [
        ActiveStop(row.id, row.site_id, row.is_whole_site, frozenset(subjects[row.id]), row.pressed_by_name) for row in found
    ]


def cleared_among(stop_ids: Iterable[UUID]) -> set[UUID]:
    """Those of these Stops that were cleared: whoever still holds by one is to be told. An unknown one still holds."""
    wanted = set(stop_ids)
    return set(Stop.objects.filter(id__in=wanted, phase=Phase.CLEARED).values_list("id", flat=True)) if wanted else set()


def position_of(site_id: UUID) -> int:
    """How far the Stops of a site are: read it before what a page shows, so that the page is never ahead of it."""
    stream = site_stream(site_id)
    return journal.heads([stream])[stream]


def stops_page(site_id: UUID, parameters: Parameters) -> Page[StopRow]:
    """Stops of one site, newest first, each with its subjects: the same few queries for any number. Raises Invalid."""
    page = STOPS.page(Stop.objects.filter(site_id=site_id), parameters)
    return Page(_in_words(page.rows), page.next_cursor)


def standing_stops(site_id: UUID) -> list[StopRow]:
    """Stops of a site that nobody cleared, newest first."""
    rows = Stop.objects.filter(site_id=site_id).exclude(phase=Phase.CLEARED)
    return _in_words(rows.order_by("-recorded_at", "-id")[:MOST_STANDING])


def get_stop(site_id: UUID, stop_id: UUID) -> StopRow:
    """One Stop with its subjects. Raises NotFound."""
    row = Stop.objects.filter(id=stop_id, site_id=site_id).first()
    if row is None:
        raise NotFound("There is nothing here.")
    return _in_words([row], most=MOST_NAMED)[0]


def _in_words(rows: Iterable[Stop], *, most: int = SHOWN_SUBJECTS) -> list[StopRow]:
    """Stops with counts of what their subjects said, and the first of them by name: those that have not confirmed first."""
    rows = list(rows)
    confirmed, released = Q(latched_at__isnull=False), Q(released_at__isnull=False)
    subjects = StopSubject.objects.filter(stop__in=rows)
    counted = subjects.values("stop_id").annotate(
        of=Count("id"), confirmed=Count("id", filter=confirmed), released=Count("id", filter=released)
    )
    counts = {one["stop_id"]: (one["of"], one["confirmed"], one["released"]) for one in counted}
    # The number of each within its Stop is given by the database, so that a Stop of a thousand brings no thousand rows here.
    place = Window(RowNumber(), partition_by="stop_id", order_by=[F("latched_at").asc(nulls_first=True), F("id").asc()])
    shown: dict[UUID, list[StopSubject]] = {}
    for one in subjects.annotate(place=place).filter(place__lte=most).order_by("stop_id", "place"):
        shown.setdefault(one.stop_id, []).append(one)
    words = words_of(SubjectRef(one.kind, one.subject_id) for some in shown.values() for one in some)
    return [
        StopRow(
            row,
            tuple(_stopped(one, words[one.kind, one.subject_id]) for one in shown.get(row.id, ())),
            *counts.get(row.id, (0, 0, 0)),
        )
        for row in rows
    ]


def _stopped(row: StopSubject, words: SubjectWords) -> StoppedSubject:
    return StoppedSubject(
        row.kind, row.subject_id, words.name, words.url, row.state, row.latched_at, row.ended_at, row.released_at
    )


def policy_of(site_id: UUID) -> StopPolicy:
    """How Stops of a site are cleared: by two people unless it was changed."""
    return StopPolicy.objects.filter(site_id=site_id).first() or StopPolicy(site_id=site_id)
