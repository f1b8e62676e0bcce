"""What holds while Valkey, PostgreSQL or the disk does not, each switched off in turn."""

from tests.guards import guard
from tests.mutations import Mutation

_AWAY = "tests/integration/console/test_database_away.py::"
_HEALTH = "tests/integration/console/test_health.py::"
_FACTS = "tests/integration/ingest/test_facts.py::"
_STOP = "tests/integration/ingest/test_stop.py::"


@guard("a database that is away is no fault of ours")
def _away() -> None:
    from django.db import InterfaceError, OperationalError
    from psycopg_pool import PoolTimeout

    from apps.kernel import problems

    found = problems.as_refusal

    def only_ours(error: BaseException) -> object:
        return None if isinstance(error, OperationalError | InterfaceError | PoolTimeout) else found(error)

    problems.as_refusal = only_ours  # type: ignore[assignment]


@guard("a full disk is told")
def _full() -> None:
    from apps.kernel import problems

    problems.DISK_FULL = "none"


@guard("sent before spooled")
def _spooled() -> None:
    from apps.ingest.gateway.stops import Stops

    press = Stops.press

    async def spooled_first(self, pressed, viewer=None):
        self._spool.keep(pressed)
        return await press(self, pressed, viewer)

    Stops.press = spooled_first


CASES = [
    Mutation(
        "a database that is away is no fault of ours",
        f"{_AWAY}test_no_acknowledged_write_is_lost_and_others_are_told_to_come_back",
    ),
    Mutation("facts acknowledged after the commit", f"{_FACTS}test_none_is_lost_while_the_database_is_away"),
    Mutation(
        "a full disk is told",
        f"{_HEALTH}test_a_write_that_the_disk_does_not_take_is_refused_and_says_why[/api/v1/sites/hall-a/robots/]",
    ),
    Mutation("sent before spooled", f"{_STOP}test_a_stop_goes_out_where_the_disk_takes_nothing"),
]
