"""Charts: lowest, highest and mean of a channel for each pixel, over minutes or over weeks, in four statements.

A block that lies within one pixel counts by its summary, added up by PostgreSQL; only those that cross an edge are decoded,
so that no more rows are read than a screen has pixels, however long the time is.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import numpy as np
from django.db import connection

from apps.kernel.errors import Invalid
from apps.kernel.types import SubjectRef
from apps.telemetry.recording import LONGEST_MS
from apps.telemetry.recording.coding import TIMES, Rows, decode
from apps.telemetry.selectors.layouts import chosen, layouts_of, places
from apps.telemetry.selectors.pixels import Pixels
from apps.telemetry.types import Gap, Layout, MeasuredChannel, Series

MOST_PIXELS, MOST_CHANNELS = 2000, 16
LONGEST_SPAN_MS = 366 * 86_400_000
SILENT_MS = 3000  # a state is stale after it
MOST_GAPS = 1000
_WITHIN = """
layout_id = ANY(%(layouts)s) AND until_ms >= %(since)s AND until_ms < %(until)s + %(longest)s AND since_ms < %(until)s
"""
_WHOLE = """(
since_ms >= %(since)s AND until_ms < %(until)s AND (since_ms - %(since)s) / %(pixel)s = (until_ms - %(since)s) / %(pixel)s
)"""
_SUMMED = """
SELECT (since_ms - %(since)s) / %(pixel)s, sum(count),
  coalesce(sum(last_sequence - first_sequence + 1 - count) FILTER (WHERE NOT is_late), 0),
  coalesce(sum(count) FILTER (WHERE is_late), 0){columns}
FROM telemetry_block JOIN unnest({places}) AS chosen({names}) USING (layout_id)
WHERE {within} AND {whole} GROUP BY 1
"""
_PARTLY = "SELECT boot, layout_id, is_late, data FROM telemetry_block WHERE {within} AND NOT {whole} ORDER BY since_ms, id"
_GAPS = """
SELECT before_ms, since_ms, boot <> before_boot,
  CASE WHEN boot = before_boot THEN greatest(0, first_sequence - before - 1) ELSE 0 END
FROM (
  SELECT boot, since_ms, first_sequence, lag(until_ms) OVER ordered AS before_ms, lag(boot) OVER ordered AS before_boot,
    lag(last_sequence) OVER ordered AS before
  FROM telemetry_block WHERE {within} AND NOT is_late WINDOW ordered AS (ORDER BY since_ms, first_sequence)
) AS pairs
WHERE before_ms IS NOT NULL
  AND (boot <> before_boot OR first_sequence > before + 1 OR since_ms - before_ms > %(silent)s)
ORDER BY since_ms
"""


def series(
    subject: SubjectRef, *, channels: Sequence[str] | None = None, since_ms: int, until_ms: int, pixels: int = 800
) -> Series:
    """What some channels of a subject were from `since_ms` until before `until_ms`, by receipt.

    Raises NotFound for a subject that never measured anything at this site, Invalid for a channel or a time without sense.
    """
    _check(since_ms, until_ms, pixels)
    layouts = layouts_of(subject)
    wanted = chosen(layouts, channels, MOST_CHANNELS)
    grid = Pixels(since_ms, until_ms, pixels, len(wanted))
    asked = _Asked(layouts, wanted, grid)
    asked.add_summaries()
    gaps = [*asked.add_rows(), *asked.add_gaps()]
    return Series(
        subject=subject,
        since_ms=since_ms,
        until_ms=until_ms,
        pixel_ms=grid.pixel_ms,
        count=grid.count.tolist(),
        missing=grid.missing_less_late(),
        channels=grid.channels(wanted),
        gaps=sorted(gaps, key=lambda gap: gap.since_ms)[:MOST_GAPS],
    )


def _check(since_ms: int, until_ms: int, pixels: int) -> None:
    wrong: dict[str, list[str]] = {}
    if not 1 <= pixels <= MOST_PIXELS:
        wrong["pixels"] = [f"Give a whole number from 1 to {MOST_PIXELS}."]
    if not 0 <= since_ms < until_ms:
        wrong["until"] = ["Give a time after since."]
    elif until_ms - since_ms > LONGEST_SPAN_MS:
        wrong["since"] = ["Give a time of at most a year."]
    if wrong:
        raise Invalid("This time cannot be shown.", fields=wrong)


@dataclass(frozen=True)
class _Asked:
    """One question: these layouts, these channels, this grid."""

    layouts: Sequence[Layout]
    wanted: Sequence[MeasuredChannel]
    grid: Pixels

    def add_summaries(self) -> None:
        """Blocks that lie within one pixel."""
        names = ["layout_id", *(f"c{place}" for place in range(len(self.wanted)))]
        at: list[list[int | None]] = [[layout.id for layout in self.layouts]]
        at += [[None if place is None else place + 1 for place in found] for found in zip(*self._places(), strict=True)]
        columns = "".join(
            f", min(lowest[c{place}]), max(highest[c{place}]), sum(total[c{place}]), sum(known[c{place}])"
            for place in range(len(self.wanted))
        )
        statement = _SUMMED.format(
            columns=columns,
            names=", ".join(names),
            places=", ".join(f"%(at{number})s::bigint[]" for number in range(len(at))),
            within=_WITHIN,
            whole=_WHOLE,
        )
        for pixel, count, missing, late, *figures in self._ask(statement, **{f"at{n}": one for n, one in enumerate(at)}):
            self.grid.add_summary(int(pixel), int(count), int(missing), int(late), figures)

    def add_rows(self) -> list[Gap]:
        """Blocks that cross an edge, state by state; the silences within them."""
        found: dict[UUID, list[Rows]] = {}
        gaps: list[Gap] = []
        where = dict(zip([layout.id for layout in self.layouts], self._places(), strict=True))
        for boot, layout_id, is_late, data in self._ask(_PARTLY.format(within=_WITHIN, whole=_WHOLE)):
            rows = _only(decode(bytes(data)), where[layout_id])
            found.setdefault(boot, []).append(rows)
            self.grid.note_missing(rows, is_late=is_late)
            gaps += [] if is_late else _silences(rows)
        for parts in found.values():
            rows = np.concatenate(parts)
            _, first = np.unique(rows[:, 0], return_index=True)
            self.grid.add_rows(rows[first])
        return [gap for gap in gaps if gap.until_ms > self.grid.since_ms and gap.since_ms < self.grid.until_ms]

    def add_gaps(self) -> list[Gap]:
        """What is missing between blocks; silences and new boots among them."""
        gaps = []
        for before_ms, since_ms, is_restart, missing in self._ask(_GAPS.format(within=_WITHIN), silent=SILENT_MS):
            self.grid.miss(since_ms, int(missing))
            if is_restart or since_ms - before_ms > SILENT_MS:
                gaps.append(Gap(before_ms, since_ms, "restart" if is_restart else "silent", int(missing)))
        return gaps

    def _places(self) -> list[list[int | None]]:
        return [places(layout, self.wanted) for layout in self.layouts]

    def _ask(self, statement: str, **more: Any) -> list[tuple[Any, ...]]:
        given: dict[str, Any] = {
            "layouts": [layout.id for layout in self.layouts],
            "since": self.grid.since_ms,
            "until": self.grid.until_ms,
            "pixel": self.grid.pixel_ms,
            "longest": LONGEST_MS,
        }
        with connection.cursor() as cursor:
            cursor.execute(statement, given | more)
            return cursor.fetchall()


def _only(rows: Rows, at: Sequence[int | None]) -> Rows:
    """Times and the wanted channels, in the wanted order."""
    found = np.full((len(rows), TIMES + len(at)), np.nan)
    found[:, :TIMES] = rows[:, :TIMES]
    for place, where in enumerate(at):
        if where is not None:
            found[:, TIMES + place] = rows[:, TIMES + where]
    return found


def _silences(rows: Rows) -> list[Gap]:
    received = np.sort(rows[:, 2])
    ends = np.flatnonzero(np.diff(received) > SILENT_MS)
    return [Gap(int(received[end]), int(received[end + 1]), "silent", 0) for end in ends.tolist()]
