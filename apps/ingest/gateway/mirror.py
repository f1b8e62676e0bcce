"""What another gateway says over a link, put into our own memory: its subjects as ours, with its clock as ours."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any
from uuid import UUID

import msgspec

from apps.fleet.types import ROBOT
from apps.ingest.gateway.live import LOST, About, Shown, Subject, of_sources, wall_ms
from apps.kernel import clock
from apps.kernel.types import SubjectRef
from workers.protocol import Report

if TYPE_CHECKING:
    from apps.ingest.gateway.links import Link
    from apps.ingest.gateway.running import Gateway

FORGET_OFFSET_AFTER_S = 60.0
_DECODER = msgspec.json.Decoder()


class Mirror:
    """One connection of one link. A subject is in the place that the other gateway gave it."""

    def __init__(self, gateway: "Gateway", link: "Link") -> None:
        self._gateway, self._live, self._link = gateway, gateway.live, link
        self._places: dict[tuple[UUID, int], Subject] = {}
        self._offset_ms: int | None = None  # ours less theirs, as small as it was seen lately: the rest is delay
        self._offset_at = 0.0
        self._takers: dict[str, Callable[[Mapping[str, Any]], None]] = {
            "subjects": self._subjects,
            "reports": self._reports,
            "floor": self._floor,
            "heard": self._heard,
            "states": self._states,
            "stop": lambda said: gateway.stops.told_elsewhere(dict(said)),
            "relayed": lambda said: gateway.links.answered(link, said),
            "ring": lambda said: gateway.rings.answered(UUID(said["subject"]), said),
        }

    def take(self, frame: str | bytes) -> None:
        """One frame of the other gateway."""
        if isinstance(frame, bytes):
            self._picture(frame)
            return
        said = _DECODER.decode(frame)
        if "now_ms" in said:
            self._set_clock(said["now_ms"])
        take = self._takers.get(said["op"])
        if take is not None:
            take(said)

    def end(self) -> None:
        """The link is gone, and with it whatever only it shows."""
        for subject in of_sources(self._live, self._link):
            self._live.silent(subject, self._link)

    def _set_clock(self, now_ms: int) -> None:
        offset, now = wall_ms() - now_ms, clock.monotonic()
        if self._offset_ms is None or offset < self._offset_ms or now - self._offset_at > FORGET_OFFSET_AFTER_S:
            self._offset_ms, self._offset_at = offset, now

    def _ours(self, milliseconds: int) -> int:
        return milliseconds + (self._offset_ms or 0)

    def _subjects(self, said: Mapping[str, Any]) -> None:
        site_id = UUID(said["site"])
        for entry in said["list"]:
            ref = SubjectRef(ROBOT, UUID(entry["id"]), site_id=site_id)
            try:
                subject = self._live.subject(ref)
            except ValueError:  # of another site here: one of both gateways is behind, and ours is what our pages know
                continue
            self._places[site_id, entry["i"]] = subject
            if subject.source is None or subject.source is self._link:
                names = ("name", "kind", "channels", "cameras", "is_simulated", "bridge", "gateway")
                self._live.describe(subject, About(**{name: entry[name] for name in names}))

    def _at(self, site_id: UUID, place: int) -> Subject | None:
        """The subject in a place, if it is this link that shows it."""
        subject = self._places.get((site_id, place))
        return subject if subject is not None and subject.source is self._link else None

    def _reports(self, said: Mapping[str, Any]) -> None:
        site_id = UUID(said["site"])
        for entry in said["list"]:
            subject = self._places.get((site_id, entry["i"]))
            if subject is None or (subject.source is not None and subject.source is not self._link):
                continue
            if entry["link"] == LOST:
                self._live.silent(subject, self._link)
                continue
            if subject.source is None:
                self._live.speak(subject, self._link, None)
            self._live.linked(subject, entry["link"])
            subject.offset_ms = entry["offset_ms"]
            for camera, fault in entry["cameras"].items():
                subject.pictures.setdefault(camera, Shown()).fault = fault
            if entry["report"] is not None:
                self._report(subject, entry["report"])

    def _report(self, subject: Subject, said: Mapping[str, Any]) -> None:
        fields = {name: value for name, value in said.items() if name not in {"device_ms", "received_ms"}}
        report = msgspec.convert(fields | {"subject": 0, "at_ms": said["device_ms"]}, Report)
        self._live.report(subject, report, self._ours(said["received_ms"]))

    def _heard(self, said: Mapping[str, Any]) -> None:
        for place, received_ms in said["rows"]:
            subject = self._at(UUID(said["site"]), place)
            if subject is not None:
                subject.report_received_ms, subject.heard = self._ours(received_ms), self._live.stamp

    def _floor(self, said: Mapping[str, Any]) -> None:
        now, stamp, site_id = clock.monotonic(), self._live.stamp, UUID(said["site"])
        for place, sequence, device_ms, received_ms, headline in said["rows"]:
            subject = self._at(site_id, place)
            if subject is None:
                continue
            if not subject.values or len(subject.values) != subject.width:
                subject.values = [None] * subject.width
            values = list(subject.values)
            for channel, value in zip(subject.headline, headline, strict=False):
                values[channel] = value
            subject.values, subject.sequence, subject.device_ms = values, sequence, device_ms
            subject.received_ms, subject.seen, subject.changed = self._ours(received_ms), now, stamp
            subject.site.changed = stamp

    def _states(self, said: Mapping[str, Any]) -> None:
        subject = self._live.subjects.get(UUID(said["subject"]))
        if subject is None or subject.source is not self._link:
            return
        for sequence, device_ms, received_ms, values in said["rows"]:
            row = (sequence, device_ms, self._ours(received_ms), values)
            for watcher in subject.watchers:
                watcher.append(row)

    def _picture(self, frame: bytes) -> None:
        size = int.from_bytes(frame[:4], "big")
        header = _DECODER.decode(frame[4 : 4 + size])
        subject = self._live.subjects.get(UUID(header["subject"]))
        if subject is None or subject.source is not self._link:
            return
        shown = subject.pictures.setdefault(header["camera"], Shown())
        shown.sequence, shown.device_ms = header["sequence"], header["device_ms"]
        shown.received_ms, shown.seen = self._ours(header["received_ms"]), clock.monotonic()
        shown.jpeg, shown.fault, shown.frame = frame[4 + size :], header["fault"], None
