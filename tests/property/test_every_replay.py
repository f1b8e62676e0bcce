"""Whatever is done through the services of every app, in any order, with reactions in between: each registered table is
what the facts alone make of it, the journal holds, and every fact has its number.
"""

from importlib import import_module

import pytest
from django.apps import apps as installed
from django.db import connection, transaction
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st

from apps.journal.models import Event, TailEntry
from apps.journal.services import catch_up, replay, replaying, verify_journal
from apps.kernel.errors import Refusal

# What each app lets happen is declared beside its own property test.
WORLDS = {"accounts": "begin", "fleet": "begin", "safety": "begin_world"}
ACTS = {name: import_module(f"tests.property.test_{name}_replay") for name in WORLDS}
# The other worlds are put up past the services of accounts, whose tables are compared where those alone were used.
OTHERS = {"alarms", "control", "fleet"}
SMALL = st.integers(0, 3)
# Tables of apps that follow from no fact, and why.
NO_PROJECTION = {
    "accounts_sign_in_budget": "counts guesses",
    "journal_": "the facts themselves, and how far their readers have come",
    "telemetry_": "samples",
    "fleet_gateway": "which gateways live now",
    "fleet_robot_report": "the last report, for pages after a restart",
}


def steps(name):
    act = st.tuples(st.just(name), st.sampled_from(sorted(ACTS[name].COMMANDS)), SMALL, SMALL, SMALL)
    return st.lists(act, max_size=12)


@pytest.mark.django_db
@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_replay_from_empty_equals_every_table(data):
    with transaction.atomic():
        chosen = data.draw(st.sets(st.sampled_from(sorted(WORLDS)), min_size=1))
        worlds = {name: getattr(ACTS[name], WORLDS[name])() for name in sorted(chosen)}
        todo = [step for name in sorted(chosen) for step in data.draw(steps(name))]
        for name, act, who, whom, which in data.draw(st.permutations(todo)):
            try:
                ACTS[name].COMMANDS[act](worlds[name], who, whom, which)
                event(f"{name} {act}: done")
            except Refusal:
                event(f"{name} {act}: refused")
            if which == 0:
                catch_up()
        catch_up()
        found = replay(names={"accounts"} if chosen == {"accounts"} else OTHERS)
        assert [one for one in found if not one.holds] == []
        assert verify_journal().faults == ()
        assert TailEntry.objects.count() == Event.objects.count()
        transaction.set_rollback(True)


@pytest.mark.django_db
def test_every_table_follows_from_facts_or_says_why_not():
    projected = {table for one in replaying.projections() for table in one.tables}
    ours = {
        model._meta.db_table
        for config in installed.get_app_configs()
        if config.name.startswith("apps.")
        for model in config.get_models()
    }
    assert projected <= set(connection.introspection.table_names())
    left = {table for table in ours - projected if not table.startswith(tuple(NO_PROJECTION))}
    assert left == set(), "register these with projection(), or say above why they follow from no fact"
