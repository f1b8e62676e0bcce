"""What only the console itself can see, and what time does to alarms.

`look_around` is called every few seconds by the worker and by each gateway: so a lost Valkey, which the worker is not heard
through, is seen by a gateway, and a lost gateway by the worker. Both may call it at once; the second finds nothing new.
"""

import shutil
from collections.abc import Callable, Iterable
from datetime import datetime
from functools import partial
from uuid import UUID, uuid5

import redis
import structlog
from django.conf import settings
from django.db import DatabaseError

from apps.alarms import events, projections
from apps.alarms.lifecycle import decide_unshelving
from apps.alarms.models import Alarm
from apps.alarms.services.conditions import set_conditions, set_everywhere
from apps.alarms.types import UNSEEN, Condition, definition_named
from apps.journal import selectors as journal
from apps.journal.services import operation
from apps.kernel import clock
from apps.kernel.permissions import require
from apps.kernel.types import Actor

_log = structlog.get_logger(__name__)
CONSOLE = UUID("5f1d0f0e-6a4b-5c8e-9f39-1c6f2a7d4e10")  # the console itself, as the subject of its own alarms
WAIT_S = 1.0
Watch = Callable[[datetime], Iterable[Condition]]
_WATCHES: dict[str, Watch] = {}
_FAILING: set[str] = set()


def watch_by(name: str, watch: Watch) -> None:
    """Ask `watch(now)` at every look around for what holds and what no longer does. For apps above this one."""
    if _WATCHES.setdefault(name, watch) is not watch:
        raise ValueError(f"two watches are called {name}")


def look_around(*, actor: Actor) -> int:
    """Raise and end what no gateway's own samples show: the tail, the disk, Valkey, and what apps above watch.

    Returns how much was new. One watch that fails does not keep the others from looking.
    """
    require(actor, "alarms.watch")
    now = clock.now()
    changed = 0
    for name, look in (("tail", _tail), ("disk", _disk), ("valkey", _valkey)):
        changed += _guarded(name, partial(look, actor, now))
    for name, watch in list(_WATCHES.items()):
        changed += _guarded(name, partial(_watched, watch, actor, now))
    return changed


def _watched(watch: Watch, actor: Actor, now: datetime) -> int:
    return set_conditions(actor=actor, conditions=list(watch(now)))


def _guarded(name: str, look: Callable[[], int]) -> int:
    try:
        changed = look()
    except (DatabaseError, OSError, LookupError, ValueError) as error:
        if name not in _FAILING:  # said once, and not every five seconds
            _FAILING.add(name)
            _log.warning("a watch of the console fails", watch=name, error=str(error)[:200])
        return 0
    _FAILING.discard(name)
    return changed


def tend_alarms(*, actor: Actor) -> int:
    """Show again what was shelved long enough, and escalate what nobody acknowledged in time. Returns how many."""
    require(actor, "alarms.watch")
    now = clock.now()
    due = list(Alarm.objects.filter(closed_at=None, shelved_until__lte=now).values_list("id", "site_id")[:200])
    late = [
        (row.id, row.site_id)
        for row in Alarm.objects.filter(closed_at=None, escalated_at=None, shelved_until=None, state__in=UNSEEN)[:500]
        if row.known is not None and (now - row.called_at).total_seconds() >= row.known.time_to_respond_s
    ]
    return sum(_tend(actor, site_id, alarm_id, now) for alarm_id, site_id in due + late)


def _tend(actor: Actor, site_id: UUID, alarm_id: UUID, now: datetime) -> int:
    with operation(actor, "alarms.tend_alarms") as act:
        act.lock(events.site_stream(site_id))
        row = Alarm.objects.get(id=alarm_id)
        if row.closed_at is not None:
            return 0
        if row.shelved_until is not None and row.shelved_until <= now:
            facts = decide_unshelving(row.as_state({}), site_id=site_id, by=None, now=now)
        elif row.shelved_until is None and row.is_unseen and row.escalated_at is None:
            facts = [events.AlarmEscalated(alarm_id=row.id, site_id=site_id, version=row.version, escalated_at=now)]
        else:
            return 0
        act.append(events.site_stream(site_id), facts, site_id=site_id)
        projections.apply_payloads(facts)
        return 1


def _measured(actor: Actor, name: str, value: float, now: datetime, detail: str) -> int:
    """Raise above the definition's limit and end below its deadband; between them nothing changes."""
    kind = definition_named(name)
    limit = kind.limit or 0.0
    if limit - kind.deadband <= value <= limit:
        return 0
    subject = uuid5(CONSOLE, name)
    return set_everywhere(actor=actor, definition=name, kind="console", id=subject, active=value > limit, at=now, detail=detail)


def _tail(actor: Actor, now: datetime) -> int:
    value = journal.tail_lag_s()
    return _measured(actor, "tail_lag", value, now, f"{value:.1f} s behind")


def _disk(actor: Actor, now: datetime) -> int:
    folder = next(path for path in (settings.DATA, *settings.DATA.parents) if path.exists())  # it may not be made yet
    usage = shutil.disk_usage(folder)
    share = usage.used / (usage.used + usage.free)
    return _measured(actor, "disk_nearly_full", share, now, f"{share:.0%} used, {usage.free / 2**30:.1f} GiB free")


def _valkey(actor: Actor, now: datetime) -> int:
    lost = not _valkey_answers()
    subject = uuid5(CONSOLE, "valkey")
    return set_everywhere(actor=actor, definition="valkey_lost", kind="console", id=subject, active=lost, at=now)


def _valkey_answers() -> bool:
    try:
        with redis.Redis.from_url(settings.VALKEY_URL, socket_timeout=WAIT_S, socket_connect_timeout=WAIT_S) as client:
            return bool(client.ping())
    except (redis.RedisError, OSError):
        return False
