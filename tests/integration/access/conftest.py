"""The world every test of rights calls into."""

from collections.abc import Iterator
from typing import Any

import pytest


@pytest.fixture(scope="module")
def world(django_db_setup: None, django_db_blocker: Any) -> Iterator[Any]:
    """One world for every call; each call is undone."""
    from django.db import transaction

    from tests.integration.access.world import build  # late: models load only after the engines run

    with django_db_blocker.unblock(), transaction.atomic():
        yield build()
        transaction.set_rollback(True)
