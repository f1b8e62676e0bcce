"""Fills a journal: many events with right digests, by COPY, in many streams. Run as a program with JSON: {"events", "part"}."""

import json
import sys
from datetime import UTC, datetime, timedelta
from typing import Any

STREAMS = 500
CHUNK = 20000
COLUMNS = (
    "id, stream, sequence, type, version, payload, site_id, actor_kind, actor_id, actor_name, correlation_id, recorded_at, "
    "previous, digest"
)
_HEADS = """
INSERT INTO journal_stream (name, site_id, sequence, digest)
SELECT name, %s, sequence, digest FROM unnest(%s::text[], %s::bigint[], %s::bytea[]) AS head (name, sequence, digest)
ON CONFLICT (name) DO UPDATE SET sequence = excluded.sequence, digest = excluded.digest
"""


def fill(events: int, part: int) -> dict[str, Any]:
    """Write them, a chunk a transaction, with the heads of their streams."""
    import django

    django.setup()
    import psycopg
    from django.db import connection

    from apps.journal.lifecycle import GENESIS, encoded
    from apps.journal.lifecycle.chain import digest_of_body
    from apps.kernel.ids import new_id

    connection.ensure_connection()
    raw: psycopg.Connection[Any] = connection.connection
    heads = [(0, GENESIS)] * STREAMS
    streams = [f"bench.part{'abcdefghij'[part % 10]}:{part}-{number}" for number in range(STREAMS)]
    site, actor, begun = str(new_id()), str(new_id()), datetime(2026, 1, 1, tzinfo=UTC)
    for first in range(0, events, CHUNK):
        with raw.transaction(), psycopg.Cursor(raw) as cursor:
            with cursor.copy(f"COPY journal_event ({COLUMNS}) FROM STDIN") as copy:
                for number in range(first, min(events, first + CHUNK)):
                    at = begun + timedelta(milliseconds=number)
                    time, place = at.isoformat(timespec="microseconds").replace("+00:00", "Z"), number % STREAMS
                    sequence, previous = heads[place]
                    payload = {"number": number, "at_device_ms": 1_700_000_000_000 + number, "temperature": number / 8}
                    body = {
                        "id": str(new_id()),
                        "stream": streams[place],
                        "sequence": sequence + 1,
                        "type": "bench.counted",
                        "version": 1,
                        "payload": payload,
                        "site_id": site,
                        "actor_kind": "machine",
                        "actor_id": actor,
                        "actor_name": "bridge",
                        "correlation_id": "",
                        "recorded_at": time,
                    }
                    digest = digest_of_body(previous, body)
                    heads[place] = (sequence + 1, digest)
                    line = (body["id"], streams[place], sequence + 1, "bench.counted", 1, encoded(payload).decode(), site)
                    line = (*line, "machine", actor, "bridge", "", time, rf"\\x{previous.hex()}", rf"\\x{digest.hex()}")
                    copy.write("\t".join(map(str, line)) + "\n")
            cursor.execute(_HEADS, [site, streams, [one for one, _ in heads], [two for _, two in heads]])
    return {"events": events}


if __name__ == "__main__":
    sys.stdout.write(json.dumps(fill(**json.loads(sys.argv[1]))))
