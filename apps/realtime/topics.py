"""What a page can follow: each topic with the verb it needs, where its position comes from and how it is rendered.

A topic is rendered as the state it shows, not as the difference since a position: whoever was away for one event or for
a thousand gets the same few elements, made once for everybody who may see the same.
"""

import hashlib
import re
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import cast
from uuid import UUID

from django.template.loader import render_to_string
from django.urls import reverse

from apps.accounts import selectors as accounts
from apps.accounts.events import person_stream, site_stream
from apps.alarms import selectors as alarms
from apps.alarms.events import site_stream as alarm_stream
from apps.control import selectors as control
from apps.control.events import site_stream as stop_stream
from apps.control.permissions import SECOND_PERSONS
from apps.fleet import selectors as fleet
from apps.journal import selectors as journal
from apps.kernel.ids import parse_id
from apps.kernel.permissions import can, verb_named
from apps.kernel.types import Actor, Role, SubjectRef

LONGEST_NAME = 100
_NAME = re.compile(r"([a-z_]{1,40}\.[a-z_]{1,40}):([0-9a-f-]{36})", re.ASCII)


class BadName(ValueError):
    """Not the name of a topic in its one spelling."""


class UnknownTopic(LookupError):
    """Well spelled, but no such topic."""


class Whose(StrEnum):
    """What the identifier in a topic's name identifies."""

    SITE = "site"
    PERSON = "person"


@dataclass(frozen=True)
class Topic:
    """One thing that pages follow.

    `stream_of` names the stream whose sequence is the position; None where the position is the number of facts of the
    site. `audience` parts people who see different elements; None for nobody sees any, so that only the head is told.
    """

    name: str
    whose: Whose
    verb: str
    stream_of: Callable[[UUID], str] | None
    audience: Callable[[Actor, SubjectRef], Hashable | None]
    render: Callable[[SubjectRef, Hashable], str]


@dataclass(frozen=True)
class Named:
    """A topic with the identifier of its subject."""

    topic: Topic
    id: UUID

    @property
    def text(self) -> str:
        """The name as pages write it."""
        return f"{self.topic.name}:{self.id}"

    @property
    def subject(self) -> SubjectRef:
        """What `can` is asked about."""
        if self.topic.whose is Whose.SITE:
            return SubjectRef("site", self.id, site_id=self.id)
        return SubjectRef("person", self.id, owner_id=self.id)

    @property
    def source(self) -> str:
        """Where the position comes from: a stream, or all facts of a site."""
        return self.topic.stream_of(self.id) if self.topic.stream_of is not None else f"{_SITE_COUNT}{self.id}"


_SITE_COUNT = "site-count:"
_TOPICS: dict[str, Topic] = {}


def register(*topics: Topic) -> None:
    """Add topics. A name is registered once."""
    for topic in topics:
        if _TOPICS.setdefault(topic.name, topic) is not topic:
            raise ValueError(f"topic {topic.name} is registered twice")


def registered() -> Iterable[Topic]:
    """Every topic, by name."""
    return (_TOPICS[name] for name in sorted(_TOPICS))


def parse(text: str) -> Named:
    """The topic that `text` names. Raises BadName for anything but the one spelling, UnknownTopic for no topic."""
    match = _NAME.fullmatch(text) if len(text) <= LONGEST_NAME else None
    found = parse_id(match[2]) if match else None
    if match is None or found is None:
        raise BadName
    topic = _TOPICS.get(match[1])
    if topic is None:
        raise UnknownTopic
    return Named(topic, found)


def group_of(stream: str) -> str:
    """The channel layer's group for one stream. Made here and never from what a client sent."""
    return f"stream.{hashlib.sha256(stream.encode()).hexdigest()[:40]}"


def heads(sources: Iterable[str]) -> dict[str, int]:
    """The newest position of each source: one query for all streams, one more where a site's count is followed."""
    wanted = set(sources)
    counts = {source for source in wanted if source.startswith(_SITE_COUNT)}
    found = journal.heads(sorted(wanted - counts))
    if counts:
        by_site = journal.counts_of_sites({UUID(source.removeprefix(_SITE_COUNT)) for source in counts})
        found |= {source: by_site.get(UUID(source.removeprefix(_SITE_COUNT)), 0) for source in counts}
    return found


def _everybody(_actor: Actor, _subject: SubjectRef) -> Hashable:
    return True


def _holders_of(verb: str) -> Callable[[Actor, SubjectRef], Hashable]:
    """Who holds a role for `verb` sees its controls. The act itself is authorised, and stepped up, when it is tried."""

    def audience(actor: Actor, subject: SubjectRef) -> Hashable:
        return bool(verb_named(verb).roles & actor.roles_at(subject.site_id))

    return audience


def _readers_of_journal(actor: Actor, subject: SubjectRef) -> Hashable | None:
    return True if can(actor, "journal.view", subject) else None


def _site_people(subject: SubjectRef, manages: Hashable) -> str:
    page = accounts.members_page(subject.id)
    return render_to_string(
        "realtime/site_people.html", {"site": accounts.get_site(subject.id), "members": page.rows, "manages": manages}
    )


def _site_machines(subject: SubjectRef, manages: Hashable) -> str:
    page = accounts.machines_page(subject.id)
    return render_to_string(
        "realtime/site_machines.html", {"site": accounts.get_site(subject.id), "machines": page.rows, "manages": manages}
    )


def _person_preferences(subject: SubjectRef, _audience: Hashable) -> str:
    return render_to_string("realtime/person_preferences.html", {"display": accounts.preferences_of(subject.id)})


def _site_journal(subject: SubjectRef, _audience: Hashable) -> str:
    return render_to_string("realtime/site_journal.html", {"events": journal.events_of_site(subject.id, most=50)})


def _site_episodes(subject: SubjectRef, _audience: Hashable) -> str:
    url = reverse("fleet:robot_detail", args=[accounts.get_site(subject.id).slug, UUID(int=0)])
    robots_url = url.removesuffix(f"{UUID(int=0)}/")
    return render_to_string(
        "realtime/site_episodes.html", {"episodes": fleet.newest_episodes(subject.id), "robots_url": robots_url}
    )


def _site_alarms(subject: SubjectRef, handles: Hashable) -> str:
    context = {"site": accounts.get_site(subject.id), "strip": alarms.strip(subject.id), "handles": handles}
    return render_to_string("alarms/_alarm_strip.html", context)


def _site_alarm_rows(subject: SubjectRef, handles: Hashable) -> str:
    context = {"site": accounts.get_site(subject.id), "rows": alarms.standing_alarms(subject.id), "handles": handles}
    return render_to_string("alarms/_alarm_rows.html", context)


def _of_stops(actor: Actor, subject: SubjectRef) -> Hashable:
    """Who asks is told apart, because nobody confirms what they asked themselves; all others see one of three texts."""
    held = actor.roles_at(subject.site_id)
    asks = Role.FLOOR_OPERATOR in held
    return asks, bool(SECOND_PERSONS & held), actor.id if asks else None


def _site_stops(subject: SubjectRef, audience: Hashable) -> str:
    asks, confirms, own_id = cast("tuple[bool, bool, UUID | None]", audience)
    context = {
        "site": accounts.get_site(subject.id),
        "standing": control.standing_stops(subject.id),
        "policy": control.policy_of(subject.id),
        "asks": asks,
        "confirms": confirms,
        "own_id": own_id,
    }
    return render_to_string("control/_standing_stops.html", context)


register(
    Topic("site.alarms", Whose.SITE, "alarms.view", alarm_stream, _holders_of("alarms.acknowledge"), _site_alarms),
    Topic("site.alarm_rows", Whose.SITE, "alarms.view", alarm_stream, _holders_of("alarms.acknowledge"), _site_alarm_rows),
    Topic("site.stops", Whose.SITE, "control.view_stops", stop_stream, _of_stops, _site_stops),
    Topic(
        "site.people",
        Whose.SITE,
        "accounts.view_people",
        site_stream,
        _holders_of("accounts.manage_people"),
        _site_people,
    ),
    Topic(
        "site.machines",
        Whose.SITE,
        "accounts.view_machines",
        site_stream,
        _holders_of("accounts.manage_machines"),
        _site_machines,
    ),
    Topic("site.journal", Whose.SITE, "journal.follow", None, _readers_of_journal, _site_journal),
    Topic("site.episodes", Whose.SITE, "fleet.view", None, _everybody, _site_episodes),
    Topic("person.preferences", Whose.PERSON, "accounts.own_preferences", person_stream, _everybody, _person_preferences),
)
