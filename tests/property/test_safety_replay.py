"""Whatever is stopped, cleared, raised and acknowledged, replaying the facts from empty gives the tables."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import pytest
from django.apps import apps as models
from django.db import transaction
from hypothesis import HealthCheck, event, example, given, settings
from hypothesis import strategies as st

from apps.alarms import projections as alarm_tables
from apps.alarms import services as alarms
from apps.control import projections as stop_tables
from apps.control import selectors as stops
from apps.control import services as control
from apps.journal.models import Event
from apps.journal.selectors import chain_faults
from apps.journal.services import as_recorded
from apps.kernel import clock
from apps.kernel.errors import Refusal
from apps.kernel.ids import new_id
from apps.kernel.types import Actor, ActorKind, Role, SubjectRef, system_actor
from tests.factories.accounts import actor_of, grant, make_person, make_site

CONSOLE = system_actor("property test")
TABLES = ("control.StopSubject", "control.Stop", "control.StopPolicy", "alarms.Call", "alarms.AlarmSubject", "alarms.Alarm")
NAMES = ["bridge_lost", "camera_black", "claim_refused", "state_stale"]
SMALL = st.integers(0, 3)
COMMANDS: dict[str, Callable[["World", int, int, int], Any]] = {}


def command(act):
    COMMANDS[act.__name__] = act
    return act


@dataclass
class World:
    """Two sites, people of both kinds, robots and one bridge at each."""

    sites: list
    people: list
    robots: list = field(default_factory=list)
    bridges: list = field(default_factory=list)
    pressed: list = field(default_factory=list)
    clears: list = field(default_factory=list)

    def __post_init__(self):
        for site in self.sites:
            self.robots.append([SubjectRef("robot", new_id(), site_id=site.id) for _ in range(3)])
            self.bridges.append(SubjectRef("bridge", new_id(), site_id=site.id))
        self.pressed = [new_id() for _ in range(4)]

    def at(self, which):
        return {"site_id": self.sites[which % 2].id}

    def by(self, who, which):
        return {"actor": actor_of(self.people[who])} | self.at(which)


def machine():
    return Actor(ActorKind.MACHINE, new_id(), "bridge")


@command
def press(world, who, whom, which):
    some = world.robots[which % 2][: whom + 1] if whom < 3 else None
    stop_id = world.pressed[(who + which) % 4]
    now = clock.now()
    control.record_stop(
        stop_id=stop_id, subjects=some, pressed_at=now, received_at=now, gateway="g", **world.by(who, which),
        sent_to=world.robots[which % 2],
    )  # fmt: skip


@command
def confirm(world, who, whom, which):
    now = clock.now()
    said = {"stop_id": world.pressed[who], "subject": world.robots[which % 2][whom % 3], "latched_at": now, "ended_at": now}
    control.confirm_stop(actor=machine(), **said, **world.at(which))


@command
def release(world, who, whom, which):
    said = {"stop_id": world.pressed[who], "subject": world.robots[which % 2][whom % 3], "released_at": clock.now()}
    control.release_stop(actor=machine(), **said, **world.at(which))


def _stop(which):
    rows = list(models.get_model("control.Stop").objects.order_by("recorded_at", "id"))
    return rows[which % len(rows)] if rows else None


def _on(world, who, row):
    return {"actor": actor_of(world.people[who]), "site_id": row.site_id, "stop_id": row.id}


@command
def ask_clear(world, who, whom, which):
    row = _stop(whom)
    if row:
        world.clears.append(control.request_clear(**_on(world, who, row)).clear_id)


@command
def clear(world, who, whom, which):
    row = _stop(whom)
    if row and row.clear_id:
        control.confirm_clear(clear_id=row.clear_id, **_on(world, who, row))


@command
def clear_by_an_old_word(world, who, whom, which):
    row = _stop(whom)
    if row and world.clears:
        control.confirm_clear(clear_id=world.clears[which % len(world.clears)], **_on(world, who, row))


@command
def withdraw(world, who, whom, which):
    row = _stop(whom)
    if row and world.clears:
        control.withdraw_clear(clear_id=row.clear_id or world.clears[-1], **_on(world, who, row))


@command
def policy(world, who, whom, which):
    control.change_policy(actor=CONSOLE, one_person_clears=bool(whom % 2), **world.at(which))


def _condition(world, whom, which, active):
    robot, bridge = world.robots[which % 2][whom % 3], world.bridges[which % 2]
    alarms.set_condition(
        actor=CONSOLE, definition=NAMES[which], subject=robot, active=active, at=clock.now(), cause=bridge if whom else None
    )


@command
def begin(world, who, whom, which):
    _condition(world, whom, which, True)


@command
def end(world, who, whom, which):
    _condition(world, whom, which, False)


def _alarm(which):
    rows = list(models.get_model("alarms.Alarm").objects.filter(closed_at=None).order_by("id"))
    return rows[which % len(rows)] if rows else None


@command
def see(world, who, whom, which):
    row = _alarm(which)
    if row:
        alarms.acknowledge(actor=actor_of(world.people[who]), site_id=row.site_id, alarm_id=row.id, seen=row.version)


@command
def reset(world, who, whom, which):
    row = _alarm(which)
    if row:
        alarms.reset_alarm(actor=actor_of(world.people[who]), site_id=row.site_id, alarm_id=row.id)


@command
def shelve(world, who, whom, which):
    row = _alarm(which)
    if row:
        said = {"minutes": whom * 5, "reason": "known"}
        alarms.shelve_alarm(actor=actor_of(world.people[who]), site_id=row.site_id, alarm_id=row.id, **said)


@command
def unshelve(world, who, whom, which):
    row = _alarm(which)
    if row:
        alarms.unshelve_alarm(actor=actor_of(world.people[who]), site_id=row.site_id, alarm_id=row.id)


def begin_world():
    sites = [make_site(is_simulated=bool(number)) for number in range(2)]
    people = [make_person() for _ in range(4)]
    for site in sites:
        for person, role in zip(people, (Role.FLOOR_OPERATOR, Role.OPERATOR, Role.FLOOR_OPERATOR, Role.VIEWER), strict=True):
            grant(person, site, role)
    return World(sites, people)


def tables():
    """Every projected value of every row."""
    return {label: sorted(str(row) for row in models.get_model(label).objects.values()) for label in TABLES}


def rebuild(times):
    for label in TABLES:
        models.get_model(label).objects.all().delete()
    for row in Event.objects.order_by("position"):
        for _ in range(times):
            recorded = as_recorded(row)
            assert stop_tables.apply_recorded(recorded) != alarm_tables.apply_recorded(recorded)


@pytest.mark.django_db
@settings(max_examples=30, deadline=timedelta(seconds=30), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(st.sampled_from(sorted(COMMANDS)), SMALL, SMALL, SMALL), min_size=6, max_size=40))
@example([("press", 3, 3, 0), ("confirm", 3, 0, 0), ("ask_clear", 0, 0, 0), ("clear", 0, 0, 0)])
@example([("press", 3, 3, 0), ("ask_clear", 0, 0, 0), ("clear", 1, 0, 0), ("release", 3, 0, 0), ("press", 3, 3, 0)])
def test_replay_from_empty_equals_the_tables(commands):
    with transaction.atomic():
        world = begin_world()
        for name, who, whom, which in commands:
            facts = Event.objects.count()
            try:
                COMMANDS[name](world, who, whom, which)
                event(f"{name}: done")
            except Refusal:
                event(f"{name}: refused")
                assert Event.objects.count() == facts
        live = tables()
        assert not list(chain_faults())
        for stop in models.get_model("control.Stop").objects.exclude(cleared_at=None):
            alone = stop.clear_by == stop.cleared_by
            assert not alone or stop.site.is_simulated, "two people, or a simulated site that lets one"
        rebuild(times=1)
        assert tables() == live
        rebuild(times=2)
        assert tables() == live
        active = {one.id for one in stops.active_stops()}
        assert active.isdisjoint(stops.cleared_among(world.pressed))
        transaction.set_rollback(True)
