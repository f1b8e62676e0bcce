"""What is wrong with a camera, judged from its pictures alone: frozen, black, or another subject's.

A moving clock is burnt into each picture of our own cameras, and every real sensor has noise, so that two equal pictures in
a row are already odd; the same one for three seconds means that nobody is looking at anything.
"""

import io
from collections import OrderedDict
from uuid import UUID

from PIL import Image, ImageStat, UnidentifiedImageError

from apps.ingest.gateway.live import Live, Shown, Subject
from apps.kernel import clock

FROZEN, BLACK, FOREIGN = "frozen", "black", "foreign"
FROZEN_AFTER_S = 3.0
FOREIGN_WITHIN_S = 30.0
MOST_DIGESTS = 20_000
DARK = 12.0  # mean of 0..255, of a picture without its burnt-in clock
LOOK_CLOSER_BELOW = 0.6  # a black picture is much smaller than what the camera usually sends
_LARGEST_SIDE = 4096


class Cameras:
    """Looks at each picture as it comes, and once a second at those that do not come any more."""

    def __init__(self, live: Live) -> None:
        self._live = live
        self._first: OrderedDict[bytes, tuple[UUID, float]] = OrderedDict()  # who showed this picture first, and when last

    def look(self, subject: Subject, camera: str, shown: Shown, now: float) -> None:
        """Judge the picture that just came."""
        shown.fault = self._fault_of(subject, shown, now)

    def sweep(self) -> None:
        """Judge cameras whose picture has been the same, or has not come, for too long."""
        now = clock.monotonic()
        for subject in self._live.subjects.values():
            for shown in subject.pictures.values():
                if shown.jpeg and not shown.fault and subject.source is not None and _is_frozen(shown, now):
                    shown.fault, shown.frame = FROZEN, None
                    self._live.told(subject)

    def forget(self, subject: Subject) -> None:
        """Nobody speaks for the subject: its last pictures say nothing of a camera."""
        for shown in subject.pictures.values():
            shown.fault, shown.frame = "", None

    def _fault_of(self, subject: Subject, shown: Shown, now: float) -> str:
        if self._is_black(shown):
            return BLACK
        if self._is_foreign(subject, shown, now):
            return FOREIGN
        return FROZEN if _is_frozen(shown, now) else ""

    def _is_foreign(self, subject: Subject, shown: Shown, now: float) -> bool:
        """Whether another subject showed exactly this picture before."""
        owner, seen = self._first.get(shown.digest, (subject.id, now))
        if owner != subject.id and now - seen <= FOREIGN_WITHIN_S:
            return True
        self._first[shown.digest] = (subject.id, now)
        self._first.move_to_end(shown.digest)
        if len(self._first) > MOST_DIGESTS:
            self._first.popitem(last=False)
        return False

    @staticmethod
    def _is_black(shown: Shown) -> bool:
        """Whether nothing can be seen. Unpacked only where its size says that it may be so, at an eighth of its sides."""
        size = len(shown.jpeg)
        if shown.usual_size and size > LOOK_CLOSER_BELOW * shown.usual_size:
            shown.usual_size += (size - shown.usual_size) * 0.05
            return False
        is_dark = _is_dark(shown.jpeg)
        if not is_dark:
            shown.usual_size = shown.usual_size + (size - shown.usual_size) * 0.05 if shown.usual_size else float(size)
        return is_dark


def _is_frozen(shown: Shown, now: float) -> bool:
    """Whether nothing new was seen for a while: the same picture again and again, or none at all."""
    return now - shown.since > FROZEN_AFTER_S


def _is_dark(jpeg: bytes) -> bool:
    """Whether a picture is black. One that cannot be read, or is far too large, counts as showing nothing."""
    try:
        with Image.open(io.BytesIO(jpeg), formats=("JPEG",)) as picture:
            if max(picture.size) > _LARGEST_SIDE:
                return True
            picture.draft("L", (max(1, picture.width // 8), max(1, picture.height // 8)))
            gray = picture.convert("L")
            # The clock is burnt into a corner: judge what is left without the tenth at the top and at the bottom.
            edge = gray.height // 10
            return ImageStat.Stat(gray.crop((0, edge, gray.width, max(edge + 1, gray.height - edge)))).mean[0] < DARK
    except (UnidentifiedImageError, OSError, ValueError, SyntaxError, Image.DecompressionBombError):
        return True
