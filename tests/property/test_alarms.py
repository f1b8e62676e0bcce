"""Whatever detectors and people do, an alarm that nobody acknowledged is never lost."""

from datetime import UTC, datetime, timedelta
from uuid import UUID

from hypothesis import example, given
from hypothesis import strategies as st

from apps.alarms import lifecycle
from apps.alarms.types import DEFINITIONS, UNSEEN, Condition, State
from apps.kernel.errors import Refusal
from apps.kernel.types import SubjectRef

NOW = datetime(2026, 1, 31, 9, 30, tzinfo=UTC)
SITE, PERSON = UUID(int=9), UUID(int=1)
ROBOTS = [SubjectRef("robot", UUID(int=10 + number), site_id=SITE) for number in range(3)]
NAMES = ["state_stale", "claim_refused"]  # one that ends by itself, one that latches
STEPS = st.one_of(
    st.tuples(st.sampled_from(["begin", "end"]), st.integers(0, 2)),
    st.tuples(st.sampled_from(["see", "see what was shown", "look", "reset", "shelve", "unshelve"]), st.just(0)),
)


class Floor:
    """One alarm with the facts it took, beside what must be true of it, kept without the machine."""

    def __init__(self, name):
        self.name, self.alarm, self.shown = name, None, None
        self.waits = False  # something began that nobody has acknowledged
        self.holds = set()
        self.ids = iter(UUID(int=number) for number in range(100, 10_000))

    def take(self, facts):
        for fact in facts:
            standing = self.alarm if self.alarm is not None and self.alarm.state is not State.NORMAL else None
            self.alarm = lifecycle.evolve(standing, fact)
            assert lifecycle.evolve(self.alarm, fact) == self.alarm

    def step(self, what, which):
        kind, now = DEFINITIONS[self.name], NOW
        standing = self.alarm if self.alarm is not None and self.alarm.state is not State.NORMAL else None
        if what in {"begin", "end"}:
            found = Condition(self.name, ROBOTS[which], what == "begin", now)
            facts = lifecycle.decide_condition(standing, found, kind, new_id=next(self.ids), site_id=SITE, now=now)
            if what == "begin" and which not in self.holds:
                self.waits = True
            (self.holds.add if what == "begin" else self.holds.discard)(which)
            self.take(facts)
        elif what == "look":
            self.shown = (standing.id, standing.version, self.waits) if standing else None
        elif standing is not None:
            self.act(standing, what, now)

    def act(self, standing, what, now):
        person = {"site_id": SITE, "by": PERSON, "by_name": "Ada", "now": now}
        if what in {"see", "see what was shown"}:
            seen = standing.version
            if what == "see what was shown":
                if self.shown is None or self.shown[0] != standing.id:
                    return
                seen = self.shown[1]
            self.take(lifecycle.decide_acknowledgement(standing, seen=seen, **person))
            self.waits = self.waits and seen != standing.version
        elif what == "reset":
            self.take(lifecycle.decide_reset(standing, **person))
        elif what == "shelve":
            until = now + timedelta(minutes=5)
            self.take(lifecycle.decide_shelving(standing, until=until, reason="known", **person))
        else:
            self.take(lifecycle.decide_unshelving(standing, site_id=SITE, by=PERSON, now=now))


@given(st.sampled_from(NAMES), st.lists(STEPS, max_size=60))
@example("state_stale", [("begin", 0), ("look", 0), ("begin", 1), ("see what was shown", 0), ("end", 0), ("end", 1)])
def test_an_unacknowledged_alarm_is_never_lost(name, steps):
    floor = Floor(name)
    for what, which in steps:
        before = floor.alarm
        try:
            floor.step(what, which)
        except Refusal:
            assert floor.alarm == before
        state = State.NORMAL if floor.alarm is None else floor.alarm.state
        assert (state in UNSEEN) == floor.waits, "and an acknowledgement of what was shown covers nothing that came after"
        active = set() if floor.alarm is None else {text for text, holds in floor.alarm.members.items() if holds}
        assert active == {f"robot:{ROBOTS[which].id}" for which in floor.holds}
        if floor.holds:
            assert state in {State.UNACKNOWLEDGED, State.ACKNOWLEDGED}
