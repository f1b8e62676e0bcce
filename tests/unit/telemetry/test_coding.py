import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from apps.telemetry.recording.coding import MOST_ROWS, TIMES, decode, encode

WHOLE = st.integers(0, 2**53)
ANY_VALUE = st.one_of(st.floats(allow_nan=True, allow_infinity=False), st.floats(-1000, 1000).map(lambda v: round(v, 3)))


@st.composite
def rows(draw):
    count, width = draw(st.integers(1, 40)), draw(st.integers(0, 5))
    found = np.empty((count, TIMES + width))
    found[:, :TIMES] = draw(arrays.arrays(np.float64, (count, TIMES), elements=WHOLE.map(float)))
    kind = draw(st.sampled_from([ANY_VALUE, st.integers(-(10**6), 10**6).map(lambda v: v / 100), st.just(float("nan"))]))
    found[:, TIMES:] = draw(arrays.arrays(np.float64, (count, width), elements=kind))
    return found


@given(rows())
def test_rows_come_back_exactly(given_rows):
    np.testing.assert_array_equal(decode(encode(given_rows)), given_rows)


def steady(values):
    found = np.empty((len(values), TIMES + values.shape[1]))
    found[:, 0] = np.arange(len(values))
    found[:, 1] = found[:, 2] = 1.79e12 + np.arange(len(values)) * 100
    found[:, TIMES:] = values
    return found


def test_what_sensors_give_takes_a_quarter_of_its_size():
    clock = np.arange(100)[:, None] / 10
    values = np.round(np.sin(clock * np.linspace(0.5, 2, 8)) + np.random.default_rng(1).normal(0, 0.001, (100, 8)), 4)
    found = steady(values)
    assert len(encode(found)) < found.nbytes / 4


def test_noise_in_full_precision_still_comes_back():
    found = steady(np.random.default_rng(1).normal(size=(100, 8)) * 1e300)
    np.testing.assert_array_equal(decode(encode(found)), found)


@pytest.mark.parametrize("data", [b"", b"\x01", b"\x01\x00\x02\x00\xff\xff\xff\xff" + b"0" * 40])
def test_short_or_huge_ones_are_refused(data):
    with pytest.raises(ValueError, match="no block"):
        decode(data)


def test_the_longest_block_is_read():
    found = steady(np.zeros((MOST_ROWS, 1)))
    assert decode(encode(found)).shape == found.shape
