"""A grid of pixels into which states and summaries are added."""

from collections.abc import Sequence
from math import isnan
from typing import Any

import numpy as np

from apps.telemetry.recording.coding import TIMES, Rows
from apps.telemetry.types import ChannelSeries, MeasuredChannel


class Pixels:
    """`pixel_ms` wide each, as many as are asked for or one less; the last may reach past the end."""

    def __init__(self, since_ms: int, until_ms: int, pixels: int, width: int) -> None:
        self.since_ms, self.until_ms = since_ms, until_ms
        self.pixel_ms = max(1, -(-(until_ms - since_ms) // pixels))
        self.pixels = -(-(until_ms - since_ms) // self.pixel_ms)
        self.count = np.zeros(self.pixels, np.int64)
        self._missing = np.zeros(self.pixels, np.int64)
        self._late = np.zeros(self.pixels, np.int64)
        shape = (self.pixels, width)
        self._lowest, self._highest = np.full(shape, np.nan), np.full(shape, np.nan)
        self._total, self._known = np.zeros(shape), np.zeros(shape, np.int64)

    def add_summary(self, pixel: int, count: int, missing: int, late: int, figures: Sequence[Any]) -> None:
        """Blocks within one pixel together: lowest, highest, total and count of each channel, one after the other."""
        self.count[pixel] += count
        self._missing[pixel] += missing
        self._late[pixel] += late
        table = np.array([np.nan if figure is None else figure for figure in figures], np.float64).reshape(-1, 4)
        self._lowest[pixel] = np.fmin(self._lowest[pixel], table[:, 0])
        self._highest[pixel] = np.fmax(self._highest[pixel], table[:, 1])
        self._total[pixel] += np.nan_to_num(table[:, 2])
        self._known[pixel] += np.nan_to_num(table[:, 3]).astype(np.int64)

    def add_rows(self, rows: Rows) -> None:
        """States, each once."""
        rows = rows[(rows[:, 2] >= self.since_ms) & (rows[:, 2] < self.until_ms)]
        if not len(rows):
            return
        pixel = self._pixel_of(rows)
        order = np.argsort(pixel, kind="stable")
        pixel, values = pixel[order], rows[order, TIMES:]
        starts = np.flatnonzero(np.diff(pixel, prepend=-1))
        at, known = pixel[starts], ~np.isnan(values)
        np.add.at(self.count, pixel, 1)
        self._lowest[at] = np.fmin(self._lowest[at], np.fmin.reduceat(values, starts, axis=0))
        self._highest[at] = np.fmax(self._highest[at], np.fmax.reduceat(values, starts, axis=0))
        self._total[at] += np.add.reduceat(np.where(known, values, 0.0), starts, axis=0)
        self._known[at] += np.add.reduceat(known.astype(np.int64), starts, axis=0)

    def note_missing(self, rows: Rows, *, is_late: bool) -> None:
        """What the sequences of one block tell: gaps in it, or that it fills some."""
        inside = (rows[:, 2] >= self.since_ms) & (rows[:, 2] < self.until_ms)
        if is_late:
            np.add.at(self._late, self._pixel_of(rows[inside]), 1)
            return
        jumps = np.diff(rows[:, 0], prepend=rows[0, 0] - 1) - 1
        np.add.at(self._missing, self._pixel_of(rows[inside]), jumps[inside].astype(np.int64))

    def miss(self, at_ms: int, missing: int) -> None:
        """So many are known to be lost before the state of this time."""
        if self.since_ms <= at_ms < self.until_ms:
            self._missing[(at_ms - self.since_ms) // self.pixel_ms] += missing

    def missing_less_late(self) -> list[int]:
        """What is missing after all: a late state fills the newest gap before it."""
        left, filling = self._missing.tolist(), 0
        for pixel in range(self.pixels - 1, -1, -1):
            filling += int(self._late[pixel])
            filled = min(filling, left[pixel])
            left[pixel] -= filled
            filling -= filled
        return left

    def channels(self, wanted: Sequence[MeasuredChannel]) -> list[ChannelSeries]:
        """The figures of each channel."""
        with np.errstate(invalid="ignore"):
            mean = np.where(self._known > 0, self._total / np.maximum(self._known, 1), np.nan)
        return [
            ChannelSeries(channel, *(_plain(table[:, place]) for table in (self._lowest, self._highest, mean)))
            for place, channel in enumerate(wanted)
        ]

    def _pixel_of(self, rows: Rows) -> Any:
        return ((rows[:, 2] - self.since_ms) // self.pixel_ms).astype(np.int64)


def _plain(values: Rows) -> list[float | None]:
    return [None if isnan(value) else value for value in values.tolist()]
