"""The console offers exactly the knobs that the simulated arms have: neither side imports the other."""

from apps.fleet.types import BRIDGE_FAULTS, FAULTS
from workers.edge.arms.orders import ALL, CLEAR, INJECT, RESET
from workers.sims.faults import OF_THE_BRIDGE, Fault


def test_every_knob_is_offered_and_no_other():
    assert set(FAULTS) == {fault.value for fault in Fault}
    assert {fault.value for fault in OF_THE_BRIDGE} == BRIDGE_FAULTS


def test_orders_have_the_same_names():
    from apps.fleet import types

    assert (types.INJECT, types.CLEAR, types.RESET) == (INJECT, CLEAR, RESET)
    assert ALL not in FAULTS
