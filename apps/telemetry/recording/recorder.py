"""The one place of a process through which samples go: open blocks, rings, and blocks waiting to be stored."""

import struct
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple
from uuid import UUID

import numpy as np

from apps.kernel import clock
from apps.telemetry.recording.blocks import Block
from apps.telemetry.recording.coding import MOST_ROWS, TIMES, Rows, listed
from apps.telemetry.recording.holes import Holes

BLOCK_S = 10.0  # what a crash of the process loses at most, the second between two collections beside it
RING_S = 120.0
LONGEST_MS = 120_000  # no block spans more of the console's clock than this
MOST_WAITING = 64 * 2**20  # bytes of blocks that the database did not take yet
_NOT_A_NUMBER = float("nan")
_NO_BOOT = UUID(int=0)


class Sample(NamedTuple):
    """One state as it was taken; an unknown value is None."""

    sequence: int
    device_ms: int
    received_ms: int
    values: list[float | None]


@dataclass(frozen=True)
class Figures:
    """What the recorder holds and what it had to let go."""

    subjects: int
    open_rows: int
    ring_blocks: int
    waiting_blocks: int
    waiting_bytes: int
    repeated: int  # states whose sequence was there already
    late: int  # states that filled a gap of a closed block
    lost_blocks: int  # forgotten because the database took none for too long


class _Track:
    """One subject: its open rows, its closed blocks of the last minutes, and which sequences are missing."""

    __slots__ = ("blocks", "boot", "buffer", "holes", "last", "latest", "layout_id", "limit", "opened_s", "pack", "width")

    def __init__(self, layout_id: int, width: int) -> None:
        self.boot = _NO_BOOT
        self.buffer = bytearray()
        self.blocks: deque[Block] = deque()
        self.forget_boot()
        self.lay_out(layout_id, width)

    def lay_out(self, layout_id: int, width: int) -> None:
        self.layout_id, self.width = layout_id, width
        self.pack = struct.Struct(f"<{TIMES + width}d").pack
        self.limit = 8 * (TIMES + width) * MOST_ROWS
        self.opened_s = 0.0

    def forget_boot(self) -> None:
        self.last = -1  # the highest sequence of this boot in a closed block
        self.holes = Holes()


class Recorder:
    """States in, blocks and rings out. Called from one thread; what it hands over may go to another.

    A sequence of one boot is taken once, however often and in whatever order it comes: late ones fill the gap they left for
    as long as the ring remembers it. Values that are not finite become unknown.
    """

    def __init__(self, *, block_s: float = BLOCK_S, ring_s: float = RING_S, most_waiting: int = MOST_WAITING) -> None:
        self._block_s, self._ring_s, self._most_waiting = block_s, ring_s, most_waiting
        self._tracks: dict[UUID, _Track] = {}
        self._waiting: deque[Block] = deque()
        self._waiting_bytes = 0
        self._repeated = self._late = self._lost = 0

    def describe(self, subject_id: UUID, layout_id: int, width: int) -> None:
        """States of this subject have `width` values from now on, described by a stored layout (`services.describe`)."""
        track = self._tracks.get(subject_id)
        if track is None:
            self._tracks[subject_id] = _Track(layout_id, width)
        elif (track.layout_id, track.width) != (layout_id, width):
            self._close(subject_id, track)
            track.lay_out(layout_id, width)

    def forget(self, subject_id: UUID) -> None:
        """Drop a subject and its ring; what is open is closed and waits to be stored."""
        track = self._tracks.get(subject_id)
        if track is not None:
            self._close(subject_id, track)
            del self._tracks[subject_id]

    def add(
        self, subject_id: UUID, boot: UUID, sequence: int, device_ms: int, received_ms: int, values: list[float | None]
    ) -> None:
        """Take one state. Raises LookupError for a subject nobody described, ValueError for another number of values."""
        track = self._tracks[subject_id]
        if not track.opened_s or (boot is not track.boot and boot != track.boot) or len(track.buffer) >= track.limit:
            self._open(subject_id, track, boot)
        try:
            track.buffer += track.pack(sequence, device_ms, received_ms, *values)
        except struct.error:
            track.buffer += _with_unknown(track, sequence, device_ms, received_ms, values)

    def take_closed(self, *, everything: bool = False) -> list[Block]:
        """Blocks to be stored now; the caller gives back what it could not store. To be called every second or so.

        `everything` closes what is still open first: for a process that ends.
        """
        now = clock.monotonic()
        for subject_id, track in self._tracks.items():
            if track.opened_s and (everything or now - track.opened_s >= self._block_s):
                self._close(subject_id, track)
            while track.blocks and now - track.blocks[0].closed_s > self._ring_s:
                track.blocks.popleft()
        taken = list(self._waiting)
        self._waiting.clear()
        self._waiting_bytes = 0
        return taken

    def give_back(self, blocks: Iterable[Block]) -> None:
        """These could not be stored: keep them for the next time, within bounds; the oldest go first."""
        newer, self._waiting, self._waiting_bytes = self._waiting, deque(), 0
        for block in (*blocks, *newer):
            self._keep(block)

    def ring(self, subject_id: UUID, seconds: float = RING_S) -> list[Sample]:
        """The last seconds of a subject by receipt, oldest first; empty for one nobody described."""
        track = self._tracks.get(subject_id)
        if track is None:
            return []
        parts: dict[UUID, list[Rows]] = {}
        for block in track.blocks:
            if (block.layout_id, block.width) == (track.layout_id, track.width):
                parts.setdefault(block.boot, []).append(block.rows)
        if track.buffer:
            parts.setdefault(track.boot, []).append(_rows_of(track))
        if not parts:
            return []
        rows = np.concatenate([_once(np.concatenate(found)) for found in parts.values()])
        rows = rows[rows[:, 2] > rows[:, 2].max() - seconds * 1000]
        return [Sample(*row) for row in listed(rows[np.argsort(rows[:, 2], kind="stable")])]

    def figures(self) -> Figures:
        """What is held now."""
        tracks = self._tracks.values()
        return Figures(
            subjects=len(self._tracks),
            open_rows=sum(len(track.buffer) // (8 * (TIMES + track.width)) for track in tracks),
            ring_blocks=sum(len(track.blocks) for track in tracks),
            waiting_blocks=len(self._waiting),
            waiting_bytes=self._waiting_bytes,
            repeated=self._repeated,
            late=self._late,
            lost_blocks=self._lost,
        )

    def _open(self, subject_id: UUID, track: _Track, boot: UUID) -> None:
        self._close(subject_id, track)
        if boot != track.boot:
            track.boot = boot
            track.forget_boot()
        now = clock.monotonic()
        # The first block of a subject is shorter by a part of its id, so that a thousand do not close in one second.
        early = 0.0 if track.blocks else (subject_id.int % 1000) / 1000 * self._block_s
        track.opened_s = now - early

    def _close(self, subject_id: UUID, track: _Track) -> None:
        """Turn the open rows into a block, and late ones among them into one of their own."""
        track.opened_s = 0.0
        if not track.buffer:
            return
        rows, track.buffer = _rows_of(track), bytearray()
        sequences = rows[:, 0]
        late = rows[:0]
        if not (sequences[0] > track.last and bool((np.diff(sequences) > 0).all())):
            count = len(rows)
            rows = _once(rows)
            kept = rows[:, 0] > track.last
            filling = [row for row in rows[~kept] if track.holes.fill(int(row[0]))]
            rows, late = rows[kept], np.array(filling) if filling else late
            self._repeated += count - len(rows) - len(late)
            self._late += len(late)
        now = clock.monotonic()
        for is_late, part in [(False, part) for part in _apart(rows)] + [(True, part) for part in _apart(late)]:
            block = Block(subject_id, track.layout_id, track.boot, part, now, is_late=is_late)
            track.blocks.append(block)
            self._keep(block)
        if len(rows):
            self._note_holes(track, rows[:, 0])

    @staticmethod
    def _note_holes(track: _Track, sequences: Rows) -> None:
        track.holes.open(track.last + 1, int(sequences[0]) - 1)
        for place in np.flatnonzero(np.diff(sequences) > 1).tolist():
            track.holes.open(int(sequences[place]) + 1, int(sequences[place + 1]) - 1)
        track.last = int(sequences[-1])

    def _keep(self, block: Block) -> None:
        self._waiting.append(block)
        self._waiting_bytes += block.size
        while self._waiting_bytes > self._most_waiting and len(self._waiting) > 1:
            self._waiting_bytes -= self._waiting.popleft().size
            self._lost += 1


def _with_unknown(track: _Track, sequence: int, device_ms: int, received_ms: int, values: list[float | None]) -> bytes:
    if len(values) != track.width:
        raise ValueError(f"{len(values)} values, {track.width} are described")
    known = [_NOT_A_NUMBER if value is None else value for value in values]
    return track.pack(sequence, device_ms, received_ms, *known)


def _rows_of(track: _Track) -> Rows:
    """The open rows; a copy, for the buffer grows on."""
    rows = np.frombuffer(bytes(track.buffer), np.float64).reshape(-1, TIMES + track.width).copy()
    values = rows[:, TIMES:]
    values[~np.isfinite(values)] = np.nan
    return rows


def _apart(rows: Rows) -> list[Rows]:
    """Rows of one block, or of several where the clock of the console jumped: readers rely on `LONGEST_MS`."""
    received = rows[:, 2]
    if not len(rows):
        return []
    if received.max() - received.min() <= LONGEST_MS / 2:
        return [rows]
    return np.split(rows, np.flatnonzero(np.abs(np.diff(received)) > LONGEST_MS / 8) + 1)


def _once(rows: Rows) -> Rows:
    """By sequence; of equal ones the first that came."""
    _, places = np.unique(rows[:, 0], return_index=True)
    return rows[places]
