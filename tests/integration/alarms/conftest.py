"""Subjects that alarms are about, and what the journal holds of them."""

import pytest

from apps.kernel import clock
from apps.kernel.ids import new_id
from apps.kernel.types import SubjectRef, system_actor

DETECTOR = system_actor("tests")


@pytest.fixture
def subject(site):
    """`subject(kind)`: something of the site, known here by kind and id alone."""
    return lambda kind="robot": SubjectRef(kind, new_id(), site_id=site.id)


@pytest.fixture
def facts(site):
    """`facts()`: how many facts of alarms the site has."""
    from apps.alarms.events import site_stream
    from apps.journal import selectors as journal

    return lambda: journal.heads([site_stream(site.id)])[site_stream(site.id)]


@pytest.fixture
def say():
    """`say(name, subject, active=True)`: what a detector found."""
    from apps.alarms.services import set_condition

    def said(definition, subject, active=True, **more):
        return set_condition(
            actor=DETECTOR, definition=definition, subject=subject, active=active, at=more.pop("at", clock.now()), **more
        )

    return said


@pytest.fixture
def alarm_of():
    """`alarm_of(subject)`: the newest alarm that gathered the subject."""
    from apps.alarms.models import Alarm

    return lambda subject: Alarm.objects.filter(subjects__subject_id=subject.id).order_by("-id").first()
