"""How the rows of a block become bytes and rows again, exactly.

Rows are float64: sequence, device time and receipt time in milliseconds (all below 2**53, so exact), then one column a
channel; NaN stands for a value that is not known. Columns are stored one after the other. Those of whole numbers, or of decimal
fractions of few places as sensors give them, are stored as differences of integers, the others as they are. Bytes of equal
weight lie together, which is what makes them compress.
"""

import struct
from typing import Any

import numpy as np
import numpy.typing as npt
import zstandard

Rows = npt.NDArray[np.float64]
Places = npt.NDArray[np.int8]
TIMES = 3  # columns before the first channel: sequence, device time, receipt time
MOST_ROWS = 4096  # in one block
FORMAT = 1
_HEAD = struct.Struct("<BHI")  # format, channels, rows; then a byte a channel: decimal places, or -1 for as it is
_AS_IT_IS = -1
_TRIED = np.array([0, 2, 4, 6], np.int8)
_LOOKED_AT = 8  # rows from which the places are guessed before all are tried
_UNKNOWN = -(2**62)  # no scaled value comes near it
_EXACT = 2.0**53
_compressor = zstandard.ZstdCompressor(level=1)
_decompressor = zstandard.ZstdDecompressor()


def encode(rows: Rows) -> bytes:
    """Rows as bytes, for good: a later format gets another number and this one stays readable."""
    count, width = rows.shape
    values = rows[:, TIMES:]
    places = _places_of(values)
    scaled = np.concatenate([np.ones(TIMES, bool), places >= 0])
    whole = np.concatenate([rows[:, :TIMES].astype("<i8"), _scaled(values[:, scaled[TIMES:]], places[places >= 0])], axis=1)
    columns = np.empty((width, count), "<u8")
    columns[scaled] = _differences(whole)
    columns[~scaled] = np.ascontiguousarray(values[:, ~scaled[TIMES:]].T).view("<u8")
    shuffled = columns.view("u1").reshape(width, count, 8).transpose(0, 2, 1)
    return _HEAD.pack(FORMAT, width - TIMES, count) + places.tobytes() + _compressor.compress(shuffled.tobytes())


def decode(data: bytes) -> Rows:
    """The rows in these bytes. Raises ValueError for anything that `encode` did not make."""
    try:
        number, channels, count = _HEAD.unpack_from(data)
        width = channels + TIMES
        if number != FORMAT or count > MOST_ROWS:
            raise ValueError("no format of a block that this version reads")
        places = np.frombuffer(data, np.int8, channels, _HEAD.size)
        plain = _decompressor.decompress(data[_HEAD.size + channels :], max_output_size=width * count * 8)
        columns = np.frombuffer(plain, "u1").reshape(width, 8, count).transpose(0, 2, 1)
    except (struct.error, zstandard.ZstdError, ValueError) as error:
        raise ValueError(f"this is no block: {error}") from None
    found = np.ascontiguousarray(columns).view("<u8").reshape(width, count)
    scaled = np.concatenate([np.ones(TIMES, bool), places >= 0])
    whole = _sums(found[scaled])
    rows = np.empty((count, width), np.float64)
    rows[:, :TIMES] = whole[:, :TIMES]
    fractions = whole[:, TIMES:] / 10.0 ** places[places >= 0]
    rows[:, scaled.nonzero()[0][TIMES:]] = np.where(whole[:, TIMES:] == _UNKNOWN, np.nan, fractions)
    rows[:, ~scaled] = found[~scaled].view("<f8").T
    return rows


def listed(rows: Rows) -> list[tuple[int, int, int, list[float | None]]]:
    """Rows as plain Python: sequence, device time, receipt time, values with None for what is not known."""
    values = rows[:, TIMES:]
    known: npt.NDArray[Any] = values
    if (unknown := np.isnan(values)).any():
        known = values.astype(object)
        known[unknown] = None
    times = rows[:, :TIMES].astype(np.int64).tolist()
    return [(*time, row) for time, row in zip(times, known.tolist(), strict=True)]


def _places_of(values: Rows) -> Places:
    """For each channel how many decimal places give every value back exactly, or that it is stored as it is."""
    some = values[:: max(1, len(values) // _LOOKED_AT)]
    guesses = np.array([_are_exact(some, np.full(values.shape[1], tried)) for tried in _TRIED])
    places = np.where(guesses.any(axis=0), _TRIED[guesses.argmax(axis=0)], _AS_IT_IS).astype(np.int8)
    for again in (_TRIED[-1], _AS_IT_IS):  # where the rows that were looked at misled us: most places, then none
        wrong = (places >= 0) & ~_are_exact(values, places)
        if not wrong.any():
            break
        places[wrong] = again
    return places


def _are_exact(values: Rows, places: Places) -> npt.NDArray[np.bool_]:
    power = 10.0**places
    with np.errstate(over="ignore", invalid="ignore"):
        scaled = np.rint(values * power)
        same = (scaled / power == values) & (np.abs(scaled) < _EXACT)
    found: npt.NDArray[np.bool_] = (same | np.isnan(values)).all(axis=0)
    return found


def _scaled(values: Rows, places: Places) -> npt.NDArray[np.int64]:
    unknown = np.isnan(values)
    scaled = np.rint(np.where(unknown, 0.0, values) * 10.0**places).astype("<i8")
    scaled[unknown] = _UNKNOWN
    return scaled


def _differences(whole: npt.NDArray[np.int64]) -> npt.NDArray[np.uint64]:
    """Column by column, each number less the one before it, small ones of either sign as small numbers."""
    steps = np.diff(whole, axis=0, prepend=0).T
    return ((steps << 1) ^ (steps >> 63)).view("<u8")


def _sums(columns: npt.NDArray[np.uint64]) -> npt.NDArray[np.int64]:
    steps = (columns >> np.uint64(1)).view("<i8") ^ -(columns & np.uint64(1)).view("<i8")
    return np.cumsum(steps, axis=1).T
