"""A robot's bridge, Stops that were pressed, and what the journal holds of them."""

from datetime import timedelta

import pytest

from apps.kernel import clock
from apps.kernel.ids import new_id
from apps.kernel.types import Actor, ActorKind, SubjectRef


@pytest.fixture
def machine():
    """A bridge, as the gateway knows it after its credential was verified."""
    return Actor(ActorKind.MACHINE, new_id(), "bridge")


@pytest.fixture
def robot(site):
    """A robot, known here by kind and id alone."""
    return SubjectRef("robot", new_id(), site_id=site.id)


@pytest.fixture
def facts(site):
    """`facts()`: how many facts of Stop the site has."""
    from apps.control.events import site_stream
    from apps.journal import selectors as journal

    return lambda: journal.heads([site_stream(site.id)])[site_stream(site.id)]


@pytest.fixture
def press(site, viewer, actor_of):
    """`press(*robots)`: a Stop that was sent and is now recorded; of the whole site without robots."""

    from apps.control.services import record_stop

    def pressed(*robots, person=None, stop_id=None, received_at=None, at=None, sent_to=()):
        now = received_at or clock.now()
        return record_stop(
            actor=actor_of(person or viewer),
            stop_id=stop_id or new_id(),
            site_id=(at or site).id,
            subjects=list(robots) or None,
            pressed_at=now - timedelta(milliseconds=20),
            received_at=now,
            gateway="gateway-1",
            sent_to=sent_to,
        )

    return pressed


@pytest.fixture
def latch(site, machine):
    """`latch(stop_id, robot)`: the robot's own report that the Stop is in effect."""

    from apps.control.services import confirm_stop

    def latched(stop_id, robot, *, at=None):
        now = clock.now()
        return confirm_stop(
            actor=machine, site_id=(at or site).id, stop_id=stop_id, subject=robot, latched_at=now, ended_at=now
        )

    return latched


@pytest.fixture
def cleared(site, floor_operator, operator, actor_of):
    """`cleared(stop_id)`: a Stop that two people cleared."""

    from apps.control.services import confirm_clear, request_clear

    def clear(stop_id):
        asked = request_clear(actor=actor_of(floor_operator), site_id=site.id, stop_id=stop_id)
        return confirm_clear(actor=actor_of(operator), site_id=site.id, stop_id=stop_id, clear_id=asked.clear_id)

    return clear
