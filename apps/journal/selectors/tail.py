"""How far the tail has come."""

from django.db import connection

from apps.journal.models import Checkpoint, TailState, Verification
from apps.journal.types import Fault, SealStatus

# What never ran is as late as the first event is old.
_LAG = """
SELECT coalesce(greatest(0, extract(epoch FROM clock_timestamp() - coalesce(
    (SELECT caught_up_at FROM journal_tail_state WHERE id = 1 AND caught_up_at > 'epoch'),
    (SELECT recorded_at FROM journal_event ORDER BY position LIMIT 1)))), 0)
"""


def tail_lag_s() -> float:
    """Seconds since the tail had numbered everything that was committed: under one while it keeps up.

    It grows while events wait and while nobody holds the tail, with or without events; 0 for a journal without any.
    """
    with connection.cursor() as cursor:
        cursor.execute(_LAG)
        return float(cursor.fetchone()[0])


def seal_status() -> SealStatus:
    """The last checkpoint and the last verification."""
    last = Checkpoint.objects.order_by("-size").first()
    state = TailState.objects.first()
    found = Verification.objects.order_by("-ended_at").first()
    return SealStatus(
        size=last.size if last else 0,
        sealed_at=last.sealed_at if last else None,
        key=last.key if last else "",
        note=last.note if last else "",
        waiting=(state.number if state else 0) - (last.size if last else 0),
        fault=state.seal_fault if state else "",
        lag_s=tail_lag_s(),
        verified_at=found.ended_at if found else None,
        verified_events=found.events if found else 0,
        verified_faults=tuple(str(Fault(**one)) for one in found.faults) if found else (),
        is_seal_checked=found.is_seal_checked if found else False,
    )
