"""Makes Stops and alarms as rows, for tests that look at rights and pages."""

from datetime import timedelta
from uuid import uuid5

from apps.accounts.models import Person, Site
from apps.alarms.models import Alarm, AlarmSubject, Call
from apps.alarms.types import State
from apps.control.models import Stop, StopPolicy, StopSubject
from apps.control.types import Phase
from apps.kernel import clock
from apps.kernel.ids import new_id


def make_stop(site: Site, person: Person, name: str = "Somebody") -> Stop:
    """A Stop of the whole site that somebody asks to clear."""
    now = clock.now()
    return Stop.objects.create(
        id=new_id(),
        site=site,
        phase=Phase.CLEAR_REQUESTED,
        is_recorded=True,
        is_whole_site=True,
        pressed_by=person.id,
        pressed_by_name=name,
        pressed_at=now,
        received_at=now,
        gateway="gateway-1",
        recorded_at=now,
        clear_id=new_id(),
        clear_by=person.id,
        clear_by_name=name,
        clear_requested_at=now,
        clear_expires_at=now + timedelta(minutes=5),
    )


def make_stop_subject(site: Site, person: Person, name: str = "Somebody") -> StopSubject:
    """A robot that said that it stands."""
    stop, robot_id, now = make_stop(site, person, name), new_id(), clock.now()
    return StopSubject.objects.create(
        id=uuid5(stop.id, f"robot:{robot_id}"),
        stop=stop,
        kind="robot",
        subject_id=robot_id,
        latched_at=now,
        ended_at=now,
        confirmed_at=now,
    )


def make_policy(site: Site, _person: Person, _name: str = "") -> StopPolicy:
    """That two people clear Stops."""
    return StopPolicy.objects.get_or_create(site=site)[0]


def make_alarm(
    site: Site, _person: Person, name: str = "silent", *, definition: str = "bridge_lost", priority: int = 1
) -> Alarm:
    """An alarm that nobody has seen."""
    now = clock.now()
    return Alarm.objects.create(
        site=site,
        definition=definition,
        priority=priority,
        cause_kind="bridge",
        cause_id=new_id(),
        state=State.UNACKNOWLEDGED,
        detail=name[:200],
        raised_at=now,
        called_at=now,
    )


def make_alarm_subject(site: Site, person: Person, name: str = "silent") -> AlarmSubject:
    """The bridge that an alarm is about."""
    alarm = make_alarm(site, person, name)
    return AlarmSubject.objects.create(
        id=uuid5(alarm.id, alarm.cause),
        alarm=alarm,
        kind=alarm.cause_kind,
        subject_id=alarm.cause_id,
        detail=name[:200],
        began_at=alarm.raised_at,
    )


def make_call(site: Site, person: Person, name: str = "silent") -> Call:
    """One time that an alarm called."""
    alarm = make_alarm(site, person, name)
    return Call.objects.create(
        id=uuid5(alarm.id, "1"),
        site=site,
        alarm=alarm,
        definition=alarm.definition,
        priority=alarm.priority,
        called_at=alarm.called_at,
    )
