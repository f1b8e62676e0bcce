"""What a refusal must leave behind: nothing."""

from contextlib import contextmanager

import pytest
from django.apps import apps

ACCOUNTS = ("Person", "Site", "RoleGrant", "Invitation", "Preferences", "ApiToken", "MachineCredential")
JOURNAL = ("Event", "IdempotencyKey")
NO_FACTS = {"last_login", "last_used_at"}


def _rows(app, table):
    rows = apps.get_model(app, table).objects.values()
    return sorted(str({name: value for name, value in row.items() if name not in NO_FACTS}) for row in rows)


def everything():
    """Every row of accounts and the journal."""
    return {table: _rows("accounts", table) for table in ACCOUNTS} | {table: _rows("journal", table) for table in JOURNAL}


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
def facts(db):
    """`facts()`: the types of the events recorded since the last call; the chain must hold."""
    from apps.journal.models import Event
    from apps.journal.selectors import chain_faults

    seen = [0]

    def since():
        rows = list(Event.objects.filter(position__gt=seen[0]).order_by("position"))
        seen[0] = rows[-1].position if rows else seen[0]
        assert not list(chain_faults())
        return [row.type.removeprefix("accounts.") for row in rows]

    since()
    return since
