from dataclasses import replace
from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest

from apps.alarms.events import AlarmAcknowledged, AlarmReset, SubjectJoined, SubjectReturned
from apps.alarms.lifecycle import (
    decide_acknowledgement,
    decide_condition,
    decide_reset,
    decide_shelving,
    decide_unshelving,
    evolve,
)
from apps.alarms.types import DEFINITIONS, AlarmState, Condition, Consequence, Priority, State, Steadied
from apps.kernel.errors import Conflict, Invalid, Stale
from apps.kernel.types import SubjectRef

NOW = datetime(2026, 1, 31, 9, 30, tzinfo=UTC)
ONE, TWO, SITE = UUID(int=1), UUID(int=2), UUID(int=9)
PERSON = {"site_id": SITE, "by": ONE, "by_name": "Ada", "now": NOW}
PLAIN, LATCHING = "state_stale", "claim_refused"


def alarm(state, *, name=PLAIN, active=True, version=1):
    return AlarmState(ONE, name, state, version, 1, {f"robot:{ONE}": active})


def joined(subject):
    return SubjectJoined(
        alarm_id=ONE, site_id=SITE, subject=subject, detail="", version=2, annunciations=2, began_at=NOW, recorded_at=NOW
    )


GONE = SubjectReturned(alarm_id=ONE, site_id=SITE, subject=f"robot:{ONE}", ended_at=NOW, recorded_at=NOW)
SEEN = AlarmAcknowledged(
    alarm_id=ONE, site_id=SITE, version=1, acknowledged_by=ONE, acknowledged_by_name="Ada", acknowledged_at=NOW
)
RESET = AlarmReset(alarm_id=ONE, site_id=SITE, reset_by=ONE, reset_by_name="Ada", reset_at=NOW)
AGAIN = joined(f"robot:{ONE}")

TRANSITIONS = [
    (PLAIN, State.UNACKNOWLEDGED, True, GONE, State.RETURNED),
    (PLAIN, State.UNACKNOWLEDGED, True, SEEN, State.ACKNOWLEDGED),
    (PLAIN, State.UNACKNOWLEDGED, True, AGAIN, State.UNACKNOWLEDGED),
    (PLAIN, State.ACKNOWLEDGED, True, GONE, State.NORMAL),
    (PLAIN, State.ACKNOWLEDGED, True, AGAIN, State.UNACKNOWLEDGED),
    (PLAIN, State.RETURNED, False, SEEN, State.NORMAL),
    (PLAIN, State.RETURNED, False, AGAIN, State.UNACKNOWLEDGED),
    (LATCHING, State.UNACKNOWLEDGED, True, GONE, State.RETURNED),
    (LATCHING, State.ACKNOWLEDGED, True, GONE, State.LATCHED),
    (LATCHING, State.RETURNED, False, SEEN, State.LATCHED),
    (LATCHING, State.LATCHED, False, AGAIN, State.UNACKNOWLEDGED),
    (LATCHING, State.LATCHED, False, RESET, State.NORMAL),
    ("no_longer_defined", State.ACKNOWLEDGED, True, GONE, State.LATCHED),
]


@pytest.mark.parametrize(("name", "before", "active", "fact", "after"), TRANSITIONS)
def test_each_transition(name, before, active, fact, after):
    once = evolve(alarm(before, name=name, active=active), fact)
    assert once.state is after
    assert evolve(once, fact) == once, "the same fact twice is the same fact"


def test_it_holds_while_it_holds_for_somebody():
    two = evolve(alarm(State.ACKNOWLEDGED), joined(f"robot:{TWO}"))
    two = evolve(two, SEEN)
    assert evolve(two, GONE).state is State.ACKNOWLEDGED


def test_a_fact_of_nothing_is_refused():
    with pytest.raises(ValueError, match="never raised"):
        evolve(None, GONE)


def test_only_what_nobody_saw_is_acknowledged():
    for state in (State.ACKNOWLEDGED, State.LATCHED, State.NORMAL):
        with pytest.raises(Conflict):
            decide_acknowledgement(alarm(state), seen=None, **PERSON)
    with pytest.raises(Stale):
        decide_acknowledgement(alarm(State.UNACKNOWLEDGED, version=3), seen=2, **PERSON)


def test_only_a_latched_one_is_reset():
    for state in set(State) - {State.LATCHED}:
        with pytest.raises(Conflict):
            decide_reset(alarm(state), **PERSON)


def test_shelving_has_a_reason_and_an_end():
    good = {"until": NOW + timedelta(minutes=30), "reason": "new camera tomorrow"} | PERSON
    (fact,) = decide_shelving(alarm(State.UNACKNOWLEDGED), **good)
    shelved = evolve(alarm(State.UNACKNOWLEDGED), fact)
    assert (shelved.state, shelved.shelved_until) == (State.UNACKNOWLEDGED, good["until"])
    with pytest.raises(Conflict):
        decide_shelving(shelved, **good)
    for wrong in ({"until": NOW}, {"until": NOW + timedelta(hours=13)}, {"reason": " "}, {"reason": "x" * 201}):
        with pytest.raises(Invalid):
            decide_shelving(alarm(State.UNACKNOWLEDGED), **(good | wrong))
    with pytest.raises(Conflict):
        decide_shelving(alarm(State.NORMAL), **good)
    (back,) = decide_unshelving(shelved, site_id=SITE, by=None, now=NOW)
    assert evolve(shelved, back).shelved_until is None
    with pytest.raises(Conflict):
        decide_unshelving(alarm(State.UNACKNOWLEDGED), site_id=SITE, by=None, now=NOW)


def test_what_is_known_is_no_fact():
    robot = SubjectRef("robot", ONE, site_id=SITE)
    kind = DEFINITIONS[PLAIN]
    rest = {"new_id": TWO, "site_id": SITE, "now": NOW}
    assert decide_condition(alarm(State.ACKNOWLEDGED), Condition(PLAIN, robot, True, NOW), kind, **rest) == []
    assert decide_condition(None, Condition(PLAIN, robot, False, NOW), kind, **rest) == []
    other = replace(alarm(State.RETURNED, active=False), version=4)
    (fact,) = decide_condition(other, Condition(PLAIN, robot, True, NOW), kind, **rest)
    assert (fact.version, fact.annunciations) == (5, 2)


class TestDefinitions:
    def test_each_says_everything_a_person_needs(self):
        for one in DEFINITIONS.values():
            assert all((one.title, one.cause, one.consequence_text, one.response, one.owner))
            assert one.time_to_respond_s > 0
            assert one.deadband >= 0
            assert (one.limit is None) == (not one.unit)
            assert set(one.hidden_by) <= set(DEFINITIONS)

    def test_priority_follows_from_the_table(self):
        assert DEFINITIONS["bridge_lost"].priority is Priority.URGENT
        assert DEFINITIONS["policy_unsafe"].priority is Priority.NORMAL
        assert DEFINITIONS["valkey_lost"].priority is Priority.ADVISORY
        sooner = replace(DEFINITIONS["policy_unsafe"], time_to_respond_s=60)
        assert sooner.priority < replace(sooner, time_to_respond_s=3600).priority
        assert replace(sooner, consequence=Consequence.SEVERE).priority is Priority.URGENT


class TestSteadied:
    def test_it_waits_for_both_delays(self):
        steady = Steadied(DEFINITIONS["state_stale"])
        seen = [steady.step(True, now) for now in (0.0, 1.0, 2.9, 3.0)]
        assert seen == [False, False, False, True]
        assert [steady.step(False, now) for now in (4.0, 6.9, 7.0)] == [True, True, False]

    def test_a_flicker_is_none(self):
        steady = Steadied(DEFINITIONS["state_stale"])
        assert not any(steady.step(now % 2 < 1, now) for now in [tenth / 10 for tenth in range(200)])

    def test_the_deadband_holds_a_measured_one(self):
        steady = Steadied(DEFINITIONS["tail_lag"])
        assert [steady.step(value, 0.0) for value in (1.9, 2.1, 1.5, 1.0, 1.9)] == [False, True, True, False, False]
