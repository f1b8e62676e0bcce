"""What this process knows of the floor now: newest wins, everything is bounded, and nothing of it is a fact.

Each change carries the stamp of the beat in which it came; a watcher that took everything up to one stamp is owed what
carries a later one. So a slow watcher costs nothing and misses nothing that is still true.
"""

from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

import msgspec

from apps.kernel import clock
from apps.kernel.types import SubjectRef
from workers.protocol import Report

LIVE, STALE, LOST = "live", "stale", "lost"
MOST_KEPT_ROWS = 100  # of one full-rate watcher: half a second and more at the highest rate a bridge may send
Row = tuple[int, int, int, Sequence[float | None]]


@dataclass(frozen=True)
class About:
    """What a subject is and measures, as its bridge described it."""

    name: str = ""
    kind: str = ""
    channels: Sequence[Mapping[str, Any]] = ()
    cameras: Sequence[str] = ()
    is_simulated: bool = False
    bridge: str = ""
    gateway: str = ""


class Shown:
    """The newest picture of one camera, and since when it has looked exactly like this."""

    __slots__ = ("device_ms", "digest", "fault", "frame", "jpeg", "received_ms", "seen", "sequence", "since", "usual_size")

    def __init__(self) -> None:
        self.sequence = -1
        self.device_ms = self.received_ms = 0
        self.seen = self.since = 0.0  # monotonic: when it came, and when its content first came
        self.digest = b""
        self.jpeg = b""
        self.fault = ""
        self.frame: bytes | None = None  # as sent to pages, made once for all of them
        self.usual_size = 0.0


class Subject:
    """One subject: the newest of everything. `source` is what speaks for it now, a connection or a link, or None."""

    __slots__ = (
        "about",
        "bad",
        "boot",
        "changed",
        "described",
        "device_ms",
        "headline",
        "heard",
        "id",
        "late",
        "link",
        "offset_ms",
        "pictures",
        "place",
        "received_ms",
        "ref",
        "report",
        "report_boot",
        "report_device_ms",
        "report_received_ms",
        "report_sequence",
        "reported",
        "rows",
        "seen",
        "sequence",
        "since",
        "site",
        "source",
        "subject_name",
        "values",
        "watchers",
        "width",
    )

    def __init__(self, ref: SubjectRef, site: "Site", place: int) -> None:
        self.ref, self.id, self.site, self.place = ref, ref.id, site, place
        self.subject_name = f"{ref.kind}:{ref.id}"
        self.about = About()
        self.width, self.headline = 0, ()  # type: tuple[int, tuple[int, ...]]
        self.source: object | None = None
        self.boot: UUID | None = None
        self.report_boot: UUID | None = None
        self.link = LOST
        self.offset_ms: float | None = None
        self.sequence, self.device_ms, self.received_ms = -1, 0, 0
        self.seen = self.since = 0.0  # monotonic: of the newest state, and when somebody began to speak for it
        self.values: Sequence[float | None] = ()
        self.report: Report | None = None
        self.report_sequence, self.report_device_ms, self.report_received_ms = -1, 0, 0
        self.pictures: dict[str, Shown] = {}
        self.watchers: tuple[deque[Row], ...] = ()
        self.changed = self.described = self.reported = self.heard = 0  # stamps
        self.late = self.bad = self.rows = 0  # counted since the process began

    @property
    def latched(self) -> Sequence[UUID]:
        """The Stops that the subject itself says are in effect."""
        is_newest = self.report is not None and self.report_boot == self.boot
        return self.report.latched if self.report is not None and is_newest else ()


@dataclass(eq=False)
class Site:
    """The subjects of one site, each in a place that it keeps as long as the process lives."""

    id: UUID
    subjects: list[Subject] = field(default_factory=list)
    described: int = 0
    reported: int = 0
    changed: int = 0
    frames: dict[Any, str | None] = field(default_factory=dict)  # made in this beat, by kind and stamp


class Live:
    """All sites and subjects of this process."""

    def __init__(self) -> None:
        self.stamp = 1
        self.sites: dict[UUID, Site] = {}
        self.subjects: dict[UUID, Subject] = {}
        self.on_report: Callable[[Subject], None] = lambda subject: None

    def beat(self) -> None:
        """What comes from now on is newer than what was taken until now."""
        self.stamp += 1
        for site in self.sites.values():
            if site.frames:
                site.frames = {}

    def site(self, site_id: UUID) -> Site:
        """One site, made at first use."""
        found = self.sites.get(site_id)
        if found is None:
            found = self.sites[site_id] = Site(site_id)
        return found

    def subject(self, ref: SubjectRef) -> Subject:
        """One subject, made at first use. Raises ValueError where it is of another site than before."""
        found = self.subjects.get(ref.id)
        if found is None:
            site = self.site(_site_of(ref))
            found = self.subjects[ref.id] = Subject(ref, site, len(site.subjects))
            site.subjects.append(found)
            self._described(found)
        elif found.ref != ref:
            raise ValueError(f"{ref.kind}:{ref.id} belongs to another site")
        return found

    def find(self, subject_id: UUID, site_id: UUID) -> Subject | None:
        """One subject of this site, or None."""
        found = self.subjects.get(subject_id)
        return found if found is not None and found.site.id == site_id else None

    def describe(self, subject: Subject, about: About) -> None:
        """Say what a subject is; a subject that measures something else from now on shows nothing old."""
        if subject.about == about:
            return
        if [channel["name"] for channel in about.channels] != [channel["name"] for channel in subject.about.channels]:
            subject.values = ()
        subject.about, subject.width = about, len(about.channels)
        subject.headline = tuple(place for place, channel in enumerate(about.channels) if channel.get("headline"))[:3]
        self._described(subject)

    def speak(self, subject: Subject, source: object, boot: UUID | None) -> None:
        """From now on `source` speaks for the subject; sequences of another boot begin anew."""
        subject.source, subject.since = source, clock.monotonic()
        if subject.boot != boot or boot is None:
            subject.boot = boot
            subject.sequence = subject.report_sequence = -1
            for shown in subject.pictures.values():
                shown.sequence = -1
        self.linked(subject, LIVE)

    def silent(self, subject: Subject, source: object) -> None:
        """`source` speaks no longer; nothing changes where another one took over."""
        if subject.source is source:
            subject.source = None
            self.linked(subject, LOST)

    def linked(self, subject: Subject, link: str) -> None:
        """How well we hear of a subject."""
        if subject.link != link:
            subject.link = link
            self.told(subject)

    def told(self, subject: Subject) -> None:
        """Something about a subject changed that reports tell."""
        subject.reported = subject.site.reported = self.stamp

    def report(self, subject: Subject, report: Report, received_ms: int) -> None:
        """Take a report that is newer than the one before."""
        before = subject.report
        subject.report, subject.report_sequence = report, report.sequence
        subject.report_device_ms, subject.report_received_ms = report.at_ms, received_ms
        subject.report_boot = subject.boot
        subject.heard = self.stamp
        if before is None or _said(before) != _said(report):
            self.told(subject)
            self.on_report(subject)

    def _described(self, subject: Subject) -> None:
        subject.described = subject.site.described = self.stamp
        self.told(subject)


def of_sources(live: Live, source: object) -> Iterable[Subject]:
    """The subjects for which `source` speaks."""
    return [subject for subject in live.subjects.values() if subject.source is source]


def wall_ms() -> int:
    """Wall time in milliseconds."""
    return int(clock.now().timestamp() * 1000)


def _site_of(ref: SubjectRef) -> UUID:
    if ref.site_id is None:
        raise ValueError(f"{ref.kind}:{ref.id} belongs to no site")
    return ref.site_id


def _said(report: Report) -> tuple[Any, ...]:
    """What a report says apart from when; a step more is no news, only the number on screen."""
    return msgspec.structs.astuple(report)[3:]
