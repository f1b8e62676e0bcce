"""One look at the database for every socket of a process."""

import logging
from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from uuid import UUID

from django.db import Error as DatabaseError
from django.db import close_old_connections

from apps.accounts.selectors import Standing, sessions_in_force, standing_of
from apps.realtime.topics import Named, heads

Audience = Hashable
Rendered = Mapping[tuple[str, Audience], str]
_FAILED: set[str] = set()  # topics already complained about
_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Wanted:
    """A followed topic: the head at which it was rendered for whom, and who follows it from which positions."""

    named: Named
    rendered_at: int
    rendered_for: frozenset[Audience]
    positions: Mapping[Audience, Collection[int]]

    def audiences_behind(self, head: int) -> list[Audience]:
        """For whom elements must be made, with the topic at `head`."""
        have = self.rendered_for if self.rendered_at == head else frozenset()
        return [one for one, positions in self.positions.items() if one not in have and any(at != head for at in positions)]


@dataclass(frozen=True)
class Question:
    """What the hub wants to know."""

    topics: Sequence[Wanted]
    sessions: Mapping[str, UUID]


@dataclass(frozen=True)
class Answer:
    """What the database said. `standings` was read last, so it holds for everything in `rendered`."""

    heads: Mapping[str, int] = field(default_factory=dict)
    rendered: Rendered = field(default_factory=dict)
    standings: Mapping[str, Standing] = field(default_factory=dict)


def look(question: Question) -> Answer:
    """Read heads, render what has grown, then read who still may see it.

    In this order: a head read before its elements are rendered is never newer than they are, and a standing read after
    them cannot miss an end of session or a loss of rights that came before anything in them.
    """
    close_old_connections()
    try:
        at = heads(wanted.named.source for wanted in question.topics)
        positions = {wanted.named.text: at[wanted.named.source] for wanted in question.topics}
        rendered = {}
        for wanted in question.topics:
            for audience in wanted.audiences_behind(positions[wanted.named.text]):
                html = _render(wanted.named, audience)
                if html is not None:
                    rendered[wanted.named.text, audience] = html
        return Answer(positions, rendered, standing_of(question.sessions.items()))
    finally:
        close_old_connections()


def _render(named: Named, audience: Audience) -> str | None:
    """The elements, or None for a topic that fails: one bad topic must not stop the watch over all sessions."""
    try:
        # Not `str(...)`: a template's text stays a class of its own under that, which frames cannot carry.
        return str.__str__(named.topic.render(named.subject, audience))
    except DatabaseError:
        raise
    except Exception:  # noqa: BLE001 - see above
        if named.topic.name not in _FAILED:
            _FAILED.add(named.topic.name)
            _log.exception("topic %s cannot be rendered", named.topic.name)
        return None


def admit(session_key: str) -> tuple[UUID, Standing] | None:
    """Whose session this is and what they may count on, or None when it does not hold."""
    close_old_connections()
    try:
        person_id = sessions_in_force([session_key]).get(session_key)
        if person_id is None:
            return None
        standing = standing_of([(session_key, person_id)]).get(session_key)
        return None if standing is None else (person_id, standing)
    finally:
        close_old_connections()
