"""Whatever a payload holds: it is refused by field, or PostgreSQL gives it back so that its digest can be recomputed."""

from typing import Any

import pytest
from django.db import transaction
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from apps.journal import selectors
from apps.journal.events import event
from apps.journal.lifecycle import encoded, recompute
from apps.journal.services import operation
from apps.journal.types import Payload
from apps.kernel.errors import Invalid
from apps.kernel.types import system_actor

FLOATS = (0.0, -0.0, 1e-7, 5e-324, 1e15, 9.999999999999998e15, 1e16, -1e16, 1.5e300, float("inf"), float("-inf"), float("nan"))
WHOLE = (2**53 - 1, 2**53, -(2**53), 2**63, 2**64, 10**30)
TEXTS = (
    "\x00",
    "a\x00b",
    "\ud800",
    "\udfff",
    "\u2028",
    "\x7f",
    "\x01",
    "\\u0000",
    "\uffff",
    "🤖",
    "\uff41",
    "e\u0301",
    '"',
    "",
)
AWKWARD = st.sampled_from([*FLOATS, *WHOLE, *TEXTS, True, False, None])
LEAVES = st.one_of(
    AWKWARD,
    st.floats(allow_nan=True, allow_infinity=True),
    st.integers(),
    st.text(st.characters(codec=None), max_size=20),
)
NAMES = st.one_of(st.text(st.characters(codec=None), max_size=8), st.sampled_from(["", "a", "A", "é", "\x00", "\ud800", "id"]))
VALUES = st.recursive(
    LEAVES, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(NAMES, inner, max_size=4), max_leaves=12
)


@event("test.free_form")
class FreeForm(Payload):
    """Anything at all."""

    body: Any


@pytest.mark.django_db
@settings(max_examples=400, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(VALUES)
def test_digest_can_be_recomputed_from_what_is_stored(value):
    with transaction.atomic():
        try:
            with operation(system_actor("test"), "test.keep") as unit:
                [recorded] = unit.append("test.free:form", [FreeForm(body=value)])
        except Invalid as refused:
            assert refused.fields and all(name.startswith(("body", "payload")) for name in refused.fields)
            transaction.set_rollback(True)
            return
        [stored] = selectors.events_after("test.free:form", 0)
        assert encoded(stored.payload) == encoded(recorded.payload)  # 1, 1.0 and True are equal, but not written alike
        assert stored == recorded
        assert recompute(stored, stored.previous) == stored.digest
        assert list(selectors.chain_faults()) == []
        transaction.set_rollback(True)
