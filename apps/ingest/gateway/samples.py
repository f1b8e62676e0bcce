"""What a bridge says ten times a second: each sample is checked, then the newest is kept and the rest recorded.

A sample is refused where the socket does not speak for its subject, where a value is not finite or absurdly large, where it
does not fit what was described. One that is no newer than what is known is counted and never shown; whether it fills a gap
of the record is the recorder's to say.
"""

from collections.abc import Callable, Sequence
from hashlib import blake2b
from math import isfinite
from typing import Protocol
from uuid import UUID

from apps.ingest.gateway.cameras import Cameras
from apps.ingest.gateway.live import Live, Shown, Subject
from apps.kernel import clock
from workers.protocol import Picture, Rejected, Report, States

LARGEST = 1e16  # of a value, either way; bands of channels are bounded by it, too
MOST_PICTURE_BYTES = 48 * 2**20  # of the newest pictures of one bridge
UNKNOWN, TAKEN_OVER = "this socket does not speak for it", "another bridge speaks for it now"
Refuse = Callable[[Rejected], None]


class Records(Protocol):
    """Where every accepted state goes."""

    def add(
        self, subject_id: UUID, boot: UUID, sequence: int, device_ms: int, received_ms: int, values: list[float | None]
    ) -> None:
        """Take one state."""
        ...


class Taking:
    """Samples of one connection. `subjects` stand in the order of its hello, None where it does not speak for one."""

    def __init__(
        self, live: Live, cameras: Cameras, records: Records, source: object, subjects: Sequence[Subject | None], boot: UUID
    ) -> None:
        self._live, self._cameras, self._records = live, cameras, records
        self._source, self._boot = source, boot
        self._subjects = list(subjects)
        self._picture_bytes = 0

    def states(self, message: States, received_ms: int, refuse: Refuse) -> None:
        """Take up to fifty states. This is the hot path: about ten thousand a second come through here."""
        subjects, known = self._subjects, len(self._subjects)
        stamp, now, add, boot = self._live.stamp, clock.monotonic(), self._records.add, self._boot
        for state in message.states:
            index, sequence, values = state.subject, state.sequence, state.values
            subject = subjects[index] if index < known else None
            if subject is None or subject.source is not self._source:
                refuse(Rejected(subject=index, sequence=sequence, field="subject", reason=self._why(subject)))
                continue
            if len(values) != subject.width:
                subject.bad += 1
                reason = f"{len(values)} values, {subject.width} channels"
                refuse(Rejected(subject=index, sequence=sequence, field="values", reason=reason))
                continue
            try:
                is_sound = -LARGEST <= sum(map(abs, values)) <= LARGEST  # type: ignore[arg-type]
            except TypeError:  # an unknown value among them
                is_sound = False
            if not is_sound and (reason := _unsound(values)):
                subject.bad += 1
                refuse(Rejected(subject=index, sequence=sequence, field="values", reason=reason))
                continue
            add(subject.id, boot, sequence, state.at_ms, received_ms, values)
            if sequence <= subject.sequence:
                subject.late += 1
                continue
            subject.sequence, subject.device_ms, subject.received_ms = sequence, state.at_ms, received_ms
            subject.values, subject.seen, subject.changed = values, now, stamp
            subject.site.changed = stamp
            subject.rows += 1
            if subject.watchers:
                for rows in subject.watchers:
                    rows.append((sequence, state.at_ms, received_ms, values))

    def report(self, message: Report, received_ms: int, refuse: Refuse) -> None:
        """Take one report."""
        subject = self._spoken_for(message, refuse)
        if subject is None:
            return
        if message.sequence <= subject.report_sequence:
            subject.late += 1
            return
        self._live.report(subject, message, received_ms)

    def picture(self, message: Picture, received_ms: int, refuse: Refuse) -> None:
        """Take one picture."""
        subject = self._spoken_for(message, refuse)
        if subject is None:
            return
        fault = self._fault_of(message, subject)
        if fault is not None:
            subject.bad += 1
            field, reason = fault
            refuse(Rejected(subject=message.subject, sequence=message.sequence, field=field, reason=reason))
            return
        shown = subject.pictures.get(message.camera)
        if shown is None:
            shown = subject.pictures[message.camera] = Shown()
        if message.sequence <= shown.sequence:
            subject.late += 1
            return
        self._picture_bytes += len(message.jpeg) - len(shown.jpeg)
        now = clock.monotonic()
        shown.sequence, shown.device_ms, shown.received_ms, shown.seen = message.sequence, message.at_ms, received_ms, now
        shown.jpeg, shown.frame = message.jpeg, None
        digest = blake2b(message.jpeg, digest_size=16).digest()
        if digest != shown.digest:
            shown.digest, shown.since = digest, now
        before = shown.fault
        self._cameras.look(subject, message.camera, shown, now)
        if shown.fault != before:
            self._live.told(subject)

    def _spoken_for(self, message: Report | Picture, refuse: Refuse) -> Subject | None:
        index = message.subject
        subject = self._subjects[index] if index < len(self._subjects) else None
        if subject is None or subject.source is not self._source:
            refuse(Rejected(subject=index, sequence=message.sequence, field="subject", reason=self._why(subject)))
            return None
        return subject

    def _fault_of(self, message: Picture, subject: Subject) -> tuple[str, str] | None:
        if message.camera not in subject.about.cameras:
            return "camera", "this camera was not described"
        if not (message.jpeg.startswith(b"\xff\xd8\xff") and message.jpeg.rstrip(b"\0").endswith(b"\xff\xd9")):
            return "jpeg", "this is no JPEG"
        shown = subject.pictures.get(message.camera)
        if self._picture_bytes + len(message.jpeg) - (len(shown.jpeg) if shown else 0) > MOST_PICTURE_BYTES:
            return "jpeg", "the pictures of this bridge are too large together"
        return None

    @staticmethod
    def _why(subject: Subject | None) -> str:
        return UNKNOWN if subject is None else TAKEN_OVER


def _unsound(values: Sequence[float | None]) -> str:
    """Why these values are not taken, or nothing. Slowly: with unknown values among them, or large ones."""
    if not all(value is None or isfinite(value) for value in values):
        return "a value is not finite"
    if not all(value is None or abs(value) <= LARGEST for value in values):
        return f"a value is beyond {LARGEST:.0e}"  # means of such ones could not be written any more
    return ""
