"""What is noted and is no fact: the last reports of robots, and which gateways live. Losing it loses nothing."""

from collections.abc import Sequence

import msgspec
from django.db import connection
from django.db.models.functions import Now

from apps.fleet.models import GatewayNode
from apps.fleet.types import LastReport

_REPORTS = """
INSERT INTO fleet_robot_report AS kept (robot_id, boot, sequence, device_ms, received_at, mode, body)
SELECT one.* FROM unnest(%s::uuid[], %s::uuid[], %s::bigint[], %s::bigint[], %s::timestamptz[], %s::text[], %s::jsonb[])
    AS one (robot_id, boot, sequence, device_ms, received_at, mode, body)
WHERE EXISTS (SELECT FROM fleet_robot robot WHERE robot.id = one.robot_id)
ORDER BY one.robot_id
ON CONFLICT (robot_id) DO UPDATE SET boot = EXCLUDED.boot, sequence = EXCLUDED.sequence, device_ms = EXCLUDED.device_ms,
    received_at = EXCLUDED.received_at, mode = EXCLUDED.mode, body = EXCLUDED.body
WHERE kept.received_at < EXCLUDED.received_at
"""


def keep_reports(reports: Sequence[LastReport]) -> int:
    """Replace older reports by these, in one statement, and say how many were newer than what was kept."""
    columns = zip(
        *(
            (
                one.robot_id,
                one.boot,
                one.sequence,
                one.device_ms,
                one.received_at,
                str(one.body.get("mode", ""))[:20],
                msgspec.json.encode(one.body).decode(),
            )
            for one in reports
        ),
        strict=True,
    )
    with connection.cursor() as cursor:
        cursor.execute(_REPORTS, [list(column) for column in columns])
        return int(cursor.rowcount)


def note_gateway(name: str) -> None:
    """A gateway says that it lives: by the database's clock, for its own may be wrong."""
    GatewayNode.objects.update_or_create(name=name, defaults={"seen_at": Now()})
