"""A block: some seconds of one subject's samples, closed, sorted by sequence, each sequence once."""

from dataclasses import dataclass
from uuid import UUID

import numpy as np

from apps.kernel.ids import new_id
from apps.telemetry.recording.coding import TIMES, Rows, decode, encode


@dataclass(frozen=True)
class Summary:
    """What a wide chart needs of a block, one entry a channel; None where no value is known."""

    lowest: list[float | None]
    highest: list[float | None]
    total: list[float]
    known: list[int]


class Block:
    """Some seconds of one subject in one boot. Its id makes storing it twice the same as once.

    `is_late` marks states that came after the block they belong to was closed; they fill gaps and repeat nothing.
    The rows are compressed when the bytes are first asked for, by whichever thread asks.
    """

    __slots__ = (
        *("id", "subject_id", "layout_id", "boot", "is_late", "count", "width", "first_sequence", "last_sequence"),
        *("since_ms", "until_ms", "closed_s", "_rows", "_data"),
    )

    def __init__(self, subject_id: UUID, layout_id: int, boot: UUID, rows: Rows, closed_s: float, *, is_late: bool) -> None:
        self.id = new_id()
        self.subject_id, self.layout_id, self.boot, self.is_late = subject_id, layout_id, boot, is_late
        self.count, self.width = len(rows), rows.shape[1] - TIMES
        self.first_sequence, self.last_sequence = int(rows[0, 0]), int(rows[-1, 0])
        self.since_ms, self.until_ms = int(rows[:, 2].min()), int(rows[:, 2].max())
        self.closed_s = closed_s
        self._rows: Rows | None = rows
        self._data: bytes | None = None

    @property
    def rows(self) -> Rows:
        """Sequence, device time, receipt time and the values, one row a state."""
        rows = self._rows
        return rows if rows is not None else decode(self.data)

    @property
    def data(self) -> bytes:
        """The rows, compressed."""
        if self._data is None:
            rows = self._rows
            if rows is None:
                raise RuntimeError("a block has rows or bytes")
            self._data = encode(rows)
            self._rows = None  # the ring keeps blocks for minutes: compressed
        return self._data

    @property
    def summary(self) -> Summary:
        """Lowest, highest and total of each channel; cheapest before `data` is asked for. Not kept: the ring is large."""
        return summarised(self.rows)

    @property
    def size(self) -> int:
        """Bytes of memory it holds now."""
        return len(self._data) if self._data is not None else 8 * self.count * (TIMES + self.width)


def summarised(rows: Rows) -> Summary:
    """Lowest, highest, total and count of what is known, channel by channel."""
    values = rows[:, TIMES:]
    known = ~np.isnan(values)
    counts = known.sum(axis=0).tolist()
    lowest, highest = np.fmin.reduce(values, axis=0).tolist(), np.fmax.reduce(values, axis=0).tolist()
    return Summary(
        lowest=[value if count else None for value, count in zip(lowest, counts, strict=True)],
        highest=[value if count else None for value, count in zip(highest, counts, strict=True)],
        total=np.where(known, values, 0.0).sum(axis=0).tolist(),
        known=counts,
    )
