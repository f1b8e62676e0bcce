"""How the rows of a block become bytes and rows again, exactly.

Rows are float64: sequence, device time and receipt time in milliseconds (all below 2**53, so exact), then one column a
channel; NaN stands for a value that is not known. Columns are stored one after the other. Whole numbers, and decimal
fractions of few places as sensors give them, are stored as differences of integers; everything else as it is. Bytes of
equal weight lie together, which is what makes them compress.
"""

import struct

import numpy as np
import numpy.typing as npt
import zstandard

Rows = npt.NDArray[np.float64]
TIMES = 3  # columns before the first channel: sequence, device time, receipt time
MOST_ROWS = 4096  # in one block
FORMAT = 1
_HEAD = struct.Struct("<BbHI")  # format, decimal places or -1, channels, rows
_AS_FLOATS = -1
_MOST_PLACES = 6
_UNKNOWN = -(2**62)  # no scaled value comes near it
_EXACT = 2.0**53
_compressor = zstandard.ZstdCompressor(level=1)
_decompressor = zstandard.ZstdDecompressor()


def encode(rows: Rows) -> bytes:
    """Rows as bytes, for good: a later format gets another number and this one stays readable."""
    count, width = rows.shape
    values = rows[:, TIMES:]
    places = _places(values)
    columns = np.empty((width, count), "<u8")
    if places == _AS_FLOATS:
        columns[:TIMES] = _differences(rows[:, :TIMES].astype("<i8"))
        columns[TIMES:] = values.T.view("<u8")
    else:
        whole = np.empty((count, width), "<i8")
        whole[:, :TIMES] = rows[:, :TIMES]
        whole[:, TIMES:] = _scaled(values, places)
        columns[:] = _differences(whole)
    shuffled = np.ascontiguousarray(columns.view("u1").reshape(width, count, 8).transpose(0, 2, 1))
    return _HEAD.pack(FORMAT, places, width - TIMES, count) + _compressor.compress(shuffled.tobytes())


def decode(data: bytes) -> Rows:
    """The rows in these bytes. Raises ValueError for anything that `encode` did not make."""
    try:
        number, places, channels, count = _HEAD.unpack_from(data)
        width = channels + TIMES
        if number != FORMAT or count > MOST_ROWS:
            raise ValueError("no format of a block that this version reads")
        size = width * count * 8
        plain = _decompressor.decompress(data[_HEAD.size :], max_output_size=size)
        columns = np.frombuffer(plain, "u1").reshape(width, 8, count).transpose(0, 2, 1)
    except (struct.error, zstandard.ZstdError, ValueError) as error:
        raise ValueError(f"this is no block: {error}") from None
    found = np.ascontiguousarray(columns).view("<u8").reshape(width, count)
    rows = np.empty((count, width), np.float64)
    if places == _AS_FLOATS:
        rows[:, :TIMES] = _sums(found[:TIMES])
        rows[:, TIMES:] = found[TIMES:].view("<f8").T
        return rows
    whole = _sums(found)
    rows[:] = whole
    values = rows[:, TIMES:]
    values /= 10.0**places
    values[whole[:, TIMES:] == _UNKNOWN] = np.nan
    return rows


def _places(values: Rows) -> int:
    """How many decimal places give every value back exactly, or -1 where none up to six do."""
    with np.errstate(over="ignore", invalid="ignore"):
        for places in range(_MOST_PLACES + 1):
            if _exact(values[:1], places) and _exact(values, places):
                return places
    return _AS_FLOATS


def _exact(values: Rows, places: int) -> bool:
    scaled = np.rint(values * 10.0**places)
    same = (scaled / 10.0**places == values) & (np.abs(scaled) < _EXACT)
    return bool((same | np.isnan(values)).all())


def _scaled(values: Rows, places: int) -> npt.NDArray[np.int64]:
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
