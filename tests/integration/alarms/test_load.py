from datetime import UTC, datetime, timedelta

import pytest

from apps.alarms.models import Call
from apps.alarms.selectors import load_of
from apps.alarms.selectors.load import flooded
from apps.alarms.types import Priority
from apps.kernel import clock
from apps.kernel.ids import new_id
from tests.factories.safety import make_alarm

START = datetime(2026, 1, 31, tzinfo=UTC)
TEN = timedelta(minutes=10)


@pytest.mark.parametrize(
    ("calls", "count"),
    [
        ([], 0),
        ([9], 0),
        ([10], 1),
        ([10, 5, 4], 2),
        ([12, 5, 6, 4, 9, 10], 4),
        ([10, None, 9], 1),  # ten minutes without any call end it
    ],
)
def test_a_flood_begins_with_ten_and_ends_under_five(calls, count):
    windows = [(START + number * TEN, found) for number, found in enumerate(calls) if found is not None]
    assert flooded(windows) == count


@pytest.mark.django_db
def test_the_figures_of_a_day(site, other_site, viewer):
    now = clock.now()

    def call(alarm, ago_s, *, at=site):
        values = {"definition": alarm.definition, "priority": alarm.priority, "called_at": now - timedelta(seconds=ago_s)}
        Call.objects.create(id=new_id(), site=at, alarm=alarm, **values)

    chatter = make_alarm(site, viewer, definition="state_stale", priority=2)
    calm = make_alarm(site, viewer, definition="policy_unsafe", priority=3)
    for seconds in (10, 20, 30, 40):
        call(chatter, seconds)
    call(calm, 3700)
    call(calm, 25 * 3600)
    call(make_alarm(other_site, viewer), 5, at=other_site)
    found = load_of(site.id)
    assert (found.calls, found.last_window, found.busiest_window) == (5, 4, 4)
    assert dict(found.of_priority)[Priority.HIGH] == 4
    assert [(one.title, one.calls, one.is_chattering) for one in found.sources] == [
        ("No new state", 4, True),
        ("Policy unsafe", 1, False),
    ]
    assert (found.chattering, found.top_percent, found.flood_percent, found.is_flood) == (1, 100, 0, False)


@pytest.mark.django_db
def test_a_site_without_calls(site):
    found = load_of(site.id)
    assert (found.calls, found.per_window, found.top_share, found.sources) == (0, 0, 0.0, ())
