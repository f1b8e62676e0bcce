import uuid
from datetime import UTC, datetime, timedelta

import pytest

from apps.kernel import clock
from apps.telemetry import services
from apps.telemetry.models import Block, Layout
from apps.telemetry.tasks import forget_old_blocks
from tests.factories.telemetry import BEGAN_MS, describe_subject, record

pytestmark = pytest.mark.django_db
BEGAN = datetime.fromtimestamp(BEGAN_MS / 1000, UTC)


def at(monkeypatch, days):
    monkeypatch.setattr(clock, "now", lambda: BEGAN + timedelta(days=days))


def test_samples_are_kept_for_a_week_and_no_longer(site, monkeypatch):
    layout = describe_subject(site, uuid.uuid4())
    record(layout, [[1.0, 1.0]] * 3)
    at(monkeypatch, 6.99)
    forget_old_blocks()
    assert Block.objects.count() == 1
    at(monkeypatch, 7.01)
    forget_old_blocks()
    forget_old_blocks()
    assert Block.objects.count() == 0
    assert Layout.objects.count() == 1


def test_the_setting_says_how_long(site, monkeypatch, settings):
    settings.TELEMETRY_DAYS = 1
    record(describe_subject(site, uuid.uuid4()), [[1.0, 1.0]])
    at(monkeypatch, 1.01)
    assert services.forget_old_blocks() == 1


def test_it_goes_on_in_short_steps(site, monkeypatch):
    layout = describe_subject(site, uuid.uuid4())
    for number in range(5):
        record(layout, [[1.0, 1.0]], first=number)
    at(monkeypatch, 8)
    assert [services.forget_old_blocks(most=2) for _ in range(4)] == [2, 2, 1, 0]
