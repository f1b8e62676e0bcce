"""Whoever watches the floor: pages, and other gateways for theirs. Each is sent what is newest when it can take it.

Nothing queues for a slow watcher but what was said to it alone (answers, events of Stops), and of that only so much.
"""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeGuard
from uuid import UUID

from apps.ingest.gateway import frames
from apps.ingest.gateway.live import MOST_KEPT_ROWS, Live, Row, Site, Subject
from apps.kernel import clock
from apps.telemetry.recording import Recorder

FLOOR_EVERY, HEARD_EVERY, ALIVE_EVERY = 2, 10, 10  # beats
MOST_NOTE_BYTES = 4 * 2**20
TOO_SLOW = 4408
SendText = Callable[[str], Awaitable[None]]
SendBytes = Callable[[bytes], Awaitable[None]]


@dataclass
class Camera:
    """One camera that is shown, and what was sent of it."""

    name: str
    every_s: float
    sequence: int = -1
    boot: UUID | None = None
    fault: str = ""
    due: float = 0.0


@dataclass
class Watched:
    """What one watcher sees of one site, and up to where it was sent."""

    site: Site
    floor: bool = False
    rows: dict[UUID, deque[Row]] = field(default_factory=dict)
    cameras: dict[UUID, list[Camera]] = field(default_factory=dict)
    described: int = 0
    reported: int = 0
    changed: int = 0
    floored: int = 0
    heard: int = 0

    @property
    def chosen(self) -> set[UUID]:
        """Subjects that are watched one by one."""
        return {*self.rows, *self.cameras}


class Viewer:
    """One watcher. `run` sends until it is cancelled or the watcher is gone. A link has the name of its gateway in `own`."""

    def __init__(self, live: Live, send_text: SendText, send_bytes: SendBytes, *, own: str = "") -> None:
        self._live, self._send_text, self._send_bytes, self._own = live, send_text, send_bytes, own
        self.watched: dict[UUID, Watched] = {}
        self._notes: deque[str] = deque()
        self._note_bytes = 0
        self._stirred = asyncio.Event()
        self.on_end: Callable[[int, str], None] = lambda code, reason: None

    @property
    def is_link(self) -> bool:
        """Whether another gateway watches: it is told what this one itself hears, and nothing second-hand."""
        return bool(self._own)

    def watch(self, site_id: UUID, *, floor: bool, subjects: Iterable[UUID], cameras: Mapping[UUID, list[Camera]]) -> None:
        """Watch this of a site from now on; what is still watched goes on where it was."""
        site = self._live.site(site_id)
        before = self.watched.get(site_id)
        now = Watched(site, floor, cameras=dict(cameras))
        for subject_id in subjects:
            now.rows[subject_id] = deque(maxlen=MOST_KEPT_ROWS)
        if before is not None:
            _take_over(before, now)
            self._leave(before)
        self.watched[site_id] = now
        self._follow(now)
        self.stir()

    def unwatch(self, sites: Collection[UUID] | None = None) -> None:
        """Watch nothing of these sites any more, or nothing at all."""
        for site_id in list(self.watched) if sites is None else sites:
            watched = self.watched.pop(site_id, None)
            if watched is not None:
                self._leave(watched)

    def tell(self, frame: Any) -> None:
        """Say something to this watcher alone. One that does not take it is let go."""
        text = frame if isinstance(frame, str) else frames.text_of(frame)
        if self._notes and self._note_bytes + len(text) > MOST_NOTE_BYTES:
            self.on_end(TOO_SLOW, "too slow")
            return
        self._notes.append(text)
        self._note_bytes += len(text)
        self.stir()

    def stir(self) -> None:
        """There may be something to send."""
        self._stirred.set()

    async def run(self) -> None:
        """Send what is owed, as fast as it is taken."""
        while True:
            await self._stirred.wait()
            self._stirred.clear()
            await self._tell()
            for watched in list(self.watched.values()):
                async for text in self._owed(watched):
                    await self._send_text(text)
                    await self._tell()
                await self._pictures(watched)

    async def _tell(self) -> None:
        while self._notes:
            text = self._notes.popleft()
            self._note_bytes -= len(text)
            await self._send_text(text)

    async def _owed(self, watched: Watched) -> AsyncIterator[str]:
        live, site = self._live, watched.site
        now = live.stamp - 1
        if site.described > watched.described:
            self._follow(watched)
            text = self._subjects(watched)
            watched.described = max(watched.described, now)
            if text:
                yield text
        if site.reported > watched.reported:
            text = self._reports(watched)
            watched.reported = max(watched.reported, now)
            if text:
                yield text
        if watched.floor:
            for text in self._floor(watched):
                yield text
        elif text := self._heard(watched):
            yield text
        for subject_id, rows in watched.rows.items():
            if rows:
                taken = list(rows)
                rows.clear()
                yield frames.states(live, subject_id, taken)

    def _subjects(self, watched: Watched) -> str | None:
        if watched.floor:
            return frames.subjects(self._live, watched.site, watched.described, self._own)
        chosen = [one for one in self._chosen(watched) if one.described > watched.described]
        return frames.subjects_of(watched.site, chosen)

    def _reports(self, watched: Watched) -> str | None:
        if watched.floor:
            return frames.reports(self._live, watched.site, watched.reported, self._own)
        chosen = [one for one in self._chosen(watched) if one.reported > watched.reported]
        return frames.reports_of(self._live, watched.site, chosen)

    def _floor(self, watched: Watched) -> Iterable[str]:
        live, site = self._live, watched.site
        even = live.stamp - live.stamp % FLOOR_EVERY
        if even > watched.floored and (site.changed > watched.changed or even >= watched.floored + ALIVE_EVERY):
            since, watched.changed, watched.floored = watched.changed, live.stamp - 1, even
            yield frames.floor(live, site, since, self._own)
        even = live.stamp - live.stamp % HEARD_EVERY
        if even > watched.heard:
            text = frames.heard(live, site, watched.heard, self._own)
            watched.heard = even
            if text:
                yield text

    def _heard(self, watched: Watched) -> str | None:
        live = self._live
        even = live.stamp - live.stamp % HEARD_EVERY
        if even <= watched.heard:
            return None
        since, watched.heard = watched.heard, even
        return frames.heard_of(watched.site, self._chosen(watched), since)

    def _chosen(self, watched: Watched) -> list[Subject]:
        found = (self._live.find(subject_id, watched.site.id) for subject_id in watched.chosen)
        return [one for one in found if self._may_show(one)]

    def _may_show(self, subject: Subject | None) -> TypeGuard[Subject]:
        return subject is not None and (not self._own or subject.about.gateway == self._own)

    async def _pictures(self, watched: Watched) -> None:
        now = clock.monotonic()
        for subject_id, cameras in list(watched.cameras.items()):
            subject = self._live.find(subject_id, watched.site.id)
            if not self._may_show(subject):
                continue
            for camera in cameras:
                shown = subject.pictures.get(camera.name)
                if shown is None or not shown.jpeg:
                    continue
                sent = (camera.boot, camera.sequence, camera.fault)
                if sent == (subject.boot, shown.sequence, shown.fault) or now < camera.due:
                    continue
                camera.boot, camera.sequence, camera.fault = subject.boot, shown.sequence, shown.fault
                camera.due = max(camera.due + camera.every_s, now + camera.every_s / 2)
                await self._send_bytes(frames.picture(subject, camera.name, shown))

    def _follow(self, watched: Watched) -> None:
        """Have the full rate of the subjects that are known by now."""
        for subject_id, rows in watched.rows.items():
            subject = self._live.find(subject_id, watched.site.id)
            if self._may_show(subject) and not any(one is rows for one in subject.watchers):
                subject.watchers = (*subject.watchers, rows)

    def _leave(self, watched: Watched) -> None:
        for subject_id, rows in watched.rows.items():
            subject = self._live.find(subject_id, watched.site.id)
            if subject is not None:
                subject.watchers = tuple(one for one in subject.watchers if one is not rows)


def _take_over(before: Watched, now: Watched) -> None:
    """Go on where the watcher was: with as wide a view as before nothing is sent twice, with a wider one all at first."""
    kept = {(key, camera.name): camera for key, cameras in before.cameras.items() for camera in cameras}
    for key, cameras in now.cameras.items():
        now.cameras[key] = [kept.get((key, camera.name), camera) for camera in cameras]
        for camera, wanted in zip(now.cameras[key], cameras, strict=True):
            camera.every_s = wanted.every_s
    if before.floor or (not now.floor and now.chosen <= before.chosen):
        now.described, now.reported = before.described, before.reported
    if before.floor:
        now.changed, now.floored, now.heard = before.changed, before.floored, before.heard


class Viewers:
    """All watchers of this process."""

    def __init__(self, live: Live, recorder: Recorder) -> None:
        self._live, self.recorder = live, recorder
        self.all: set[Viewer] = set()

    def beat(self) -> None:
        """Something may have changed for everybody."""
        for viewer in self.all:
            viewer.stir()

    def watching(self, site_id: UUID) -> list[Viewer]:
        """Who watches anything of a site."""
        return [viewer for viewer in self.all if site_id in viewer.watched]

    def tell(self, site_id: UUID, frame: Mapping[str, Any], *also: Viewer, to_links: bool = True) -> None:
        """Say something to everybody who watches a site, and to `also`."""
        text = frames.text_of(frame)
        for viewer in {*self.watching(site_id), *also}:
            if to_links or not viewer.is_link:
                viewer.tell(text)
