"""The script that checks exports spells JSON as the console does, whatever a fact holds."""

import json

from hypothesis import given, settings
from hypothesis import strategies as st

from apps.journal.lifecycle import encoded
from tests.integration.journal.tampering import script

TEXT = st.text(st.characters(codec="utf-8", exclude_characters="\x00"), max_size=20)
NUMBERS = st.one_of(
    st.integers(-(2**53) + 1, 2**53 - 1),
    st.floats(allow_nan=False, allow_infinity=False, min_value=-9.99e15, max_value=9.99e15),
    st.floats(1e-9, 1e-3),
    st.sampled_from([1e-5, 1.25e-5, 9.99e-6, 1e-7, 5e-324, 0.0001, 1e15, 0.1]),
)
VALUES = st.recursive(
    st.one_of(TEXT, NUMBERS, st.booleans(), st.none()),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=12,
)
SCRIPT = script()


@settings(max_examples=600, deadline=None)
@given(VALUES)
def test_both_spell_alike(value):
    assert SCRIPT.canonical(json.loads(json.dumps(value))).encode() == encoded(value)
