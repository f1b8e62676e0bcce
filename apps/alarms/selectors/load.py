"""How much alarms ask of people, by the figures usually quoted from EEMUA 191 and ISA-18.2 as a guide, not as a claim.

A call is one time an alarm asked for a person: raised, or begun again after somebody had seen it. Repeats that nobody has
seen yet are the same call.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.db import connection

from apps.alarms.models import Alarm, Call
from apps.alarms.types import DEFINITIONS, Priority
from apps.kernel import clock

WINDOW = timedelta(minutes=10)
DAY = timedelta(days=1)
FLOOD_BEGINS, FLOOD_ENDS = 10, 5  # calls in ten minutes
CHATTERS = 3  # calls of one cause within a minute
MOST_SOURCES = 10
# Every ten-minute window of the day that holds a call, and of each cause its calls and the most within one minute.
_WINDOWS = """
SELECT date_bin('10 minutes', called_at, %(since)s) AS window_start, count(*) FROM alarms_call
WHERE site_id = %(site)s AND called_at >= %(since)s GROUP BY 1 ORDER BY 1
"""
_SOURCES = """
SELECT definition, cause_kind, cause_id, count(*), max(in_minute) FROM (
    SELECT call.definition, alarm.cause_kind, alarm.cause_id,
           count(*) OVER (PARTITION BY call.definition, alarm.cause_kind, alarm.cause_id ORDER BY call.called_at
                          RANGE BETWEEN '1 minute' PRECEDING AND CURRENT ROW) AS in_minute
    FROM alarms_call call JOIN alarms_alarm alarm ON alarm.id = call.alarm_id
    WHERE call.site_id = %(site)s AND call.called_at >= %(since)s
) AS each_call GROUP BY 1, 2, 3 ORDER BY 4 DESC, 1, 3 LIMIT 10
"""
_PRIORITIES = "SELECT priority, count(*) FROM alarms_call WHERE site_id = %(site)s AND called_at >= %(since)s GROUP BY 1"


@dataclass(frozen=True)
class Source:
    """One cause that called, how often in a day, and the most within one minute."""

    title: str
    kind: str
    id: UUID
    calls: int
    most_in_minute: int

    @property
    def is_chattering(self) -> bool:
        """Whether it calls so fast that nobody can mean each of them."""
        return self.most_in_minute >= CHATTERS


@dataclass(frozen=True)
class Load:
    """Load of one site over the last day. Shares are of 1; `flood_share` is of the time in which alarms were counted."""

    since: datetime
    calls: int
    last_window: int
    busiest_window: int
    flood_share: float
    of_priority: tuple[tuple[Priority, int], ...]
    top_share: float
    sources: tuple[Source, ...]
    standing_long: int

    @property
    def per_window(self) -> float:
        """Calls in ten minutes, on average."""
        return self.calls * WINDOW / DAY

    @property
    def is_flood(self) -> bool:
        """Whether it is one now."""
        return self.last_window >= FLOOD_BEGINS

    @property
    def flood_percent(self) -> int:
        """Time in flood, of a hundred."""
        return round(100 * self.flood_share)

    @property
    def top_percent(self) -> int:
        """Share of the loudest causes, of a hundred."""
        return round(100 * self.top_share)

    @property
    def chattering(self) -> int:
        """How many of the loudest causes chatter."""
        return sum(one.is_chattering for one in self.sources)


def calls_since(site_id: UUID, since: datetime) -> int:
    """How often alarms of a site called for a person since then."""
    return Call.objects.filter(site_id=site_id, called_at__gte=since).count()


def load_of(site_id: UUID) -> Load:
    """The load of a site over the last day: five queries."""
    now = clock.now()
    values: dict[str, Any] = {"site": site_id, "since": now - DAY}
    with connection.cursor() as cursor:
        cursor.execute(_WINDOWS, values)
        windows = [(start, count) for start, count in cursor.fetchall()]
        cursor.execute(_PRIORITIES, values)
        of_priority = dict(cursor.fetchall())
        cursor.execute(_SOURCES, values)
        sources = tuple(
            Source(DEFINITIONS[name].title if name in DEFINITIONS else name, kind, cause, count, most)
            for name, kind, cause, count, most in cursor.fetchall()
        )
    calls = sum(of_priority.values())
    return Load(
        since=now - DAY,
        calls=calls,
        last_window=calls_since(site_id, now - WINDOW),
        busiest_window=max((count for _, count in windows), default=0),
        flood_share=flooded(windows) / (DAY / WINDOW),
        of_priority=tuple((rank, of_priority.get(rank.value, 0)) for rank in Priority),
        top_share=sum(one.calls for one in sources[:MOST_SOURCES]) / calls if calls else 0.0,
        sources=sources,
        standing_long=Alarm.objects.filter(site_id=site_id, closed_at=None, raised_at__lt=now - DAY).count(),
    )


def flooded(windows: list[tuple[datetime, int]]) -> int:
    """How many ten-minute windows were in flood: from one with ten calls until one with fewer than five, that one left out."""
    count, is_flood, before = 0, False, None
    for start, calls in windows:
        if before is not None and start - before > WINDOW:  # the windows between had no calls at all
            is_flood = False
        is_flood = calls >= (FLOOD_ENDS if is_flood else FLOOD_BEGINS)
        count += is_flood
        before = start
    return count
