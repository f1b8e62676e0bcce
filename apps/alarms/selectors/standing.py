"""What stands, what waits for a person, and the lists of it."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db.models import Count, F, Subquery, Window
from django.db.models.functions import RowNumber

from apps.alarms.events import site_stream
from apps.alarms.models import Alarm, AlarmSubject
from apps.alarms.types import DEFINITIONS, UNSEEN, Priority, State
from apps.journal import selectors as journal
from apps.kernel import filters
from apps.kernel.errors import NotFound
from apps.kernel.filters import Filter, Listing, Parameters
from apps.kernel.pagination import Page
from apps.kernel.selectors import SubjectWords, words_of
from apps.kernel.types import SubjectRef

SHOWN_SUBJECTS = 4  # of one alarm in a row; its count says how many there are
NAMED = 3  # more than these are counted
MOST_STANDING = 200
ALARMS = Listing(
    filters=(
        Filter("state", "state", filters.choice(State), "One state only."),
        Filter("priority", "priority", filters.choice(["1", "2", "3", "4"]), "1 urgent to 4 advisory."),
        Filter("definition", "definition", filters.choice(sorted(DEFINITIONS)), "One kind only."),
        Filter("subject", "subjects__subject_id", filters.identifier, "Alarms of one subject."),
    ),
)


@dataclass(frozen=True)
class AlarmRow:
    """One alarm as a list shows it: with what it is about in words, and its first subjects."""

    alarm: Alarm
    about: SubjectWords
    subjects: tuple[SubjectWords, ...]
    more: int
    is_hidden: bool = False

    @property
    def who(self) -> str:
        """Whom it concerns, in a few words."""
        count = len(self.subjects) + self.more
        if 1 <= count <= NAMED:
            return ", ".join(one.name for one in self.subjects)
        return f"{count} subjects of {self.about.name}" if count else self.about.name

    @property
    def found(self) -> str:
        """What was found, where that says more than whom it concerns."""
        return "" if self.alarm.detail in self.who else self.alarm.detail


@dataclass(frozen=True)
class OfPriority:
    """How much stands of one priority, and how much of it nobody has seen."""

    priority: Priority
    standing: int
    unseen: int


@dataclass(frozen=True)
class Strip:
    """What the alarm line of every page says. `first` is what a person should see to next; `cleared_at` when all was over."""

    of_priority: tuple[OfPriority, ...]
    first: AlarmRow | None
    unseen: int
    standing: int
    shelved: int
    oldest_at: datetime | None
    cleared_at: datetime | None


def position_of(site_id: UUID) -> int:
    """How far the alarms of a site are: read it before what a page shows, so that the page is never ahead of it."""
    stream = site_stream(site_id)
    return journal.heads([stream])[stream]


def standing_alarms(site_id: UUID) -> list[AlarmRow]:
    """What stands at a site and is not shelved, by need: what nobody saw first, then priority, then the newest.

    The same few queries whatever stands. One that a standing alarm of the same cause explains is marked hidden.
    """
    return in_words(_standing(site_id))


def _standing(site_id: UUID) -> list[Alarm]:
    rows = Alarm.objects.filter(site_id=site_id, closed_at=None, shelved_until=None)
    return sorted(rows.order_by("priority", "-id")[:MOST_STANDING], key=lambda row: (not row.is_unseen, row.priority))


def in_words(rows: Iterable[Alarm]) -> list[AlarmRow]:
    """Alarms with their first subjects named: two queries for subjects, one for each kind of them."""
    rows = list(rows)
    subjects = AlarmSubject.objects.filter(alarm__in=rows)
    counts = dict(subjects.values_list("alarm_id").annotate(Count("id")))
    # Numbered by the database, so that an alarm of a thousand subjects brings no thousand rows to every page.
    order = [F("is_active").desc(), F("began_at").asc(), F("id").asc()]
    place = Window(RowNumber(), partition_by="alarm_id", order_by=order)
    shown: dict[UUID, list[AlarmSubject]] = {}
    for one in subjects.annotate(place=place).filter(place__lte=SHOWN_SUBJECTS).order_by("alarm_id", "place"):
        shown.setdefault(one.alarm_id, []).append(one)
    refs = [SubjectRef(row.cause_kind, row.cause_id) for row in rows]
    refs += [SubjectRef(one.kind, one.subject_id) for some in shown.values() for one in some]
    words = words_of(refs)
    explained = _explanations(rows)
    return [
        AlarmRow(
            row,
            words[row.cause_kind, row.cause_id],
            tuple(words[one.kind, one.subject_id] for one in shown.get(row.id, ())),
            counts.get(row.id, 0) - len(shown.get(row.id, ())),
            is_hidden=_is_explained(row, explained),
        )
        for row in rows
    ]


def _explanations(rows: Iterable[Alarm]) -> set[tuple[str, str]]:
    """What holds now, by definition and cause: what may explain others of the same cause."""
    return {(row.definition, row.cause) for row in rows if row.active_count}


def _is_explained(row: Alarm, explained: Collection[tuple[str, str]]) -> bool:
    return row.known is not None and any((name, row.cause) in explained for name in row.known.hidden_by)


def strip(site_id: UUID) -> Strip:
    """What the alarm line of a site says: on every page, so only what it shows is read: five queries at most."""
    rows = _standing(site_id)
    explained = _explanations(rows)
    rows = [row for row in rows if not _is_explained(row, explained)]
    waiting = [row for row in rows if row.is_unseen]
    shelved, cleared_at = _aside(site_id, is_calm=not rows)
    return Strip(
        of_priority=tuple(
            OfPriority(
                rank,
                sum(row.priority == rank for row in rows),
                sum(row.priority == rank for row in waiting),
            )
            for rank in Priority
        ),
        first=in_words(waiting[:1])[0] if waiting else None,
        unseen=len(waiting),
        standing=len(rows),
        shelved=shelved,
        oldest_at=min((row.called_at for row in waiting), default=None),
        cleared_at=cleared_at,
    )


def _aside(site_id: UUID, *, is_calm: bool) -> tuple[int, datetime | None]:
    """How many alarms of a site are shelved and, where none stands, when the last one was over: the first entry of an index,
    however many there were. One query, for a page that is calm most of the time."""
    shelved = Alarm.objects.filter(site_id=site_id, closed_at=None).exclude(shelved_until=None)
    if is_calm:
        over = Alarm.objects.filter(site_id=site_id, closed_at__isnull=False).order_by("-closed_at")
        count = shelved.order_by().values("site_id").annotate(found=Count("id")).values("found")
        last = over.annotate(shelved=Subquery(count)).values_list("shelved", "closed_at").first()
        if last is not None:
            return last[0] or 0, last[1]
    return shelved.count(), None


def alarms_page(site_id: UUID, parameters: Parameters) -> Page[AlarmRow]:
    """Alarms of one site, newest first, over ones too. Raises Invalid."""
    page = ALARMS.page(Alarm.objects.filter(site_id=site_id), parameters)
    return Page(in_words(page.rows), page.next_cursor)


def get_alarm(site_id: UUID, alarm_id: UUID) -> AlarmRow:
    """One alarm. Raises NotFound."""
    row = Alarm.objects.filter(id=alarm_id, site_id=site_id).first()
    if row is None:
        raise NotFound("There is nothing here.")
    return in_words([row])[0]


def shelved_alarms(site_id: UUID) -> list[AlarmRow]:
    """What is shelved at a site, the one that shows again first."""
    rows = Alarm.objects.filter(site_id=site_id, closed_at=None).exclude(shelved_until=None)
    return in_words(rows.order_by("shelved_until", "id")[:MOST_STANDING])


def active_among(subject_ids: Collection[UUID]) -> dict[UUID, tuple[str, ...]]:
    """Which alarms hold for each of these subjects now, by definition: one query, for lists of subjects."""
    rows = AlarmSubject.objects.filter(subject_id__in=subject_ids, is_active=True, alarm__closed_at=None)
    found: dict[UUID, tuple[str, ...]] = {}
    for subject_id, name in rows.order_by("alarm__priority", "alarm_id").values_list("subject_id", "alarm__definition"):
        found[subject_id] = (*found.get(subject_id, ()), name)
    return found


def holding(definition: str) -> set[tuple[UUID, UUID]]:
    """Every subject for which a condition holds now, as (site, subject): one query, by an index of what holds."""
    rows = AlarmSubject.objects.filter(is_active=True, alarm__closed_at=None, alarm__definition=definition)
    return set(rows.values_list("alarm__site_id", "subject_id"))


def has_unseen(site_id: UUID) -> bool:
    """Whether anything at a site waits for a person."""
    return Alarm.objects.filter(site_id=site_id, closed_at=None, shelved_until=None, state__in=UNSEEN).exists()


@dataclass(frozen=True)
class SubjectOfAlarm:
    """One subject of an alarm as its page lists it."""

    words: SubjectWords
    is_active: bool
    detail: str
    began_at: datetime
    ended_at: datetime | None


def alarm_subjects(alarm_id: UUID, *, most: int = 100) -> list[SubjectOfAlarm]:
    """Subjects of one alarm, those it holds for first."""
    rows = list(AlarmSubject.objects.filter(alarm_id=alarm_id).order_by("-is_active", "began_at", "id")[:most])
    words = words_of(SubjectRef(row.kind, row.subject_id) for row in rows)
    return [
        SubjectOfAlarm(words[row.kind, row.subject_id], row.is_active, row.detail, row.began_at, row.ended_at) for row in rows
    ]
