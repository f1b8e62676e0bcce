"""A simulated site with a robot and its bridge, and what a refusal must leave behind: nothing."""

from contextlib import contextmanager

import pytest
from django.apps import apps

from apps.kernel.ids import new_id
from apps.kernel.types import Role

TABLES = ("Bridge", "BootCursor", "Robot", "RobotReport", "Episode", "Order")


def _made():
    """Imported late: models may load only after the engines run."""
    from tests.factories import accounts, fleet

    return accounts, fleet


def everything():
    """Every row of fleet, and every fact, key and Stop."""
    rows = {name: apps.get_model("fleet", name).objects.values() for name in TABLES}
    rows |= {name: apps.get_model("journal", name).objects.values() for name in ("Event", "IdempotencyKey")}
    rows |= {name: apps.get_model("control", name).objects.values() for name in ("Stop", "StopSubject")}
    return {name: sorted(map(str, found)) for name, found in rows.items()}


@pytest.fixture
def refused(db):
    """`with refused(Conflict, code="..."):` the act is refused and leaves every row as it was."""

    @contextmanager
    def check(kind, code=None):
        before = everything()
        with pytest.raises(kind) as caught:
            yield caught
        assert type(caught.value) is kind
        if code is not None:
            assert caught.value.code == code
        assert everything() == before

    return check


@pytest.fixture
def site(db):
    return _made()[0].make_site(is_simulated=True)


@pytest.fixture
def robot(site):
    return _made()[1].make_robot(site, "arm-01")


@pytest.fixture
def machine(site, robot):
    return _made()[1].machine_for(site, [robot], "arms")


@pytest.fixture
def boot():
    return new_id()


@pytest.fixture
def claim(machine, robot, boot):
    return _made()[1].connect(machine, [robot], boot=boot)


@pytest.fixture
def admin(site):
    people, _ = _made()
    return people.actor_of(people.grant(people.make_person("Admin"), site, Role.ADMIN))


@pytest.fixture
def somebody(site):
    """`somebody(Role.VIEWER)`: a person with that role here; with None, an admin of another site."""

    def make(role):
        people, _ = _made()
        place = site if role else people.make_site()
        return people.actor_of(people.grant(people.make_person(), place, role or Role.ADMIN))

    return make
