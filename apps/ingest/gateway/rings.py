"""The last seconds of a subject at full rate, from this process or from the gateway that hears it."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any
from uuid import UUID

from apps.ingest.gateway import frames
from apps.ingest.gateway.live import Subject
from apps.ingest.gateway.viewers import Viewer
from apps.kernel import clock

if TYPE_CHECKING:
    from apps.ingest.gateway.running import Gateway

ANSWERED_WITHIN_S = 5.0
MOST_WAITING = 200


class Rings:
    """Answers what pages ask of the past, and remembers for whom another gateway was asked."""

    def __init__(self, gateway: "Gateway") -> None:
        self._gateway = gateway
        self._waiting: list[tuple[UUID, float, Viewer]] = []

    def send(self, subject: Subject, seconds: float, viewer: Viewer) -> None:
        """Send the ring of a subject, now or when its gateway answered."""
        now = clock.monotonic()
        if self._gateway.links.relay_ring(subject.source, subject.id, seconds):
            self._waiting = [one for one in self._waiting if now - one[1] < ANSWERED_WITHIN_S][-MOST_WAITING:]
            self._waiting.append((subject.id, now, viewer))
            return
        rows = self._gateway.recorder.ring(subject.id, seconds)
        viewer.tell(frames.text_of({"op": "ring", "subject": subject.id, "seconds": seconds, "rows": rows}))

    def answered(self, subject_id: UUID, frame: Mapping[str, Any]) -> None:
        """Another gateway sent a ring: give it to everybody who waits for it."""
        text = frames.text_of(frame)
        for waiting_for, _, viewer in self._waiting:
            if waiting_for == subject_id:
                viewer.tell(text)
        self._waiting = [one for one in self._waiting if one[0] != subject_id]
