"""One per process: what is followed, by whom, and what they may see of it now."""

import asyncio
import logging
from collections.abc import Hashable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import Protocol
from uuid import UUID

import msgspec
from django.db import Error as DatabaseError

from apps.accounts.events import person_stream
from apps.accounts.selectors import Standing
from apps.kernel import clock
from apps.kernel.types import Actor
from apps.realtime.consumers.hints import Hints
from apps.realtime.consumers.survey import Answer, Question, Wanted, admit, look
from apps.realtime.permissions import refusal_of
from apps.realtime.topics import Named
from apps.realtime.types import Close, Fragments, Resync

LOOK_EVERY_S = 0.5
LOOK_AT_MOST_EVERY_S = 0.1  # ten times a second, however fast a stream grows
LOOK_DEADLINE_S = 5.0
TICK_EVERY_S = 1.0
UNKNOWN = -1  # a head not read yet
LONGEST_GAP = 200
_ENCODER = msgspec.json.Encoder()
_log = logging.getLogger(__name__)


class Follower(Protocol):
    """One socket, as the hub knows it."""

    session_key: str
    person_id: UUID
    actor: Actor
    topics: dict[str, int]
    checked: int  # the last look in which this session was in force

    def end(self, code: Close) -> None:
        """Deliver nothing more and close."""

    def stir(self, *, tick: bool = False) -> None:
        """Something may be there to deliver."""


@dataclass
class Followed:
    """One topic that at least one socket follows."""

    named: Named
    head: int = UNKNOWN
    made: int = 0  # the look that made `html`
    html: dict[Hashable, str] = field(default_factory=dict)
    frames: dict[Hashable, str] = field(default_factory=dict)
    followers: set[Follower] = field(default_factory=set)

    def audience(self, actor: Actor) -> Hashable | None:
        """Whose elements this actor sees; None for nobody's."""
        return self.named.topic.audience(actor, self.named.subject)

    def frame(self, audience: Hashable | None, position: int) -> str | None:
        """The text that brings a page at `position` to the head: the same object for every page it is sent to."""
        html = "" if audience is None else self.html.get(audience)
        if html is None:
            return None
        kind = Fragments if 0 < self.head - position <= LONGEST_GAP else Resync
        key = kind, audience
        if key not in self.frames:
            self.frames[key] = _ENCODER.encode(kind(self.named.text, self.head, html)).decode()
        return self.frames[key]

    def positions(self) -> dict[Hashable, set[int]]:
        """The positions of followers by audience, without those who see no elements."""
        found: dict[Hashable, set[int]] = {}
        for follower in self.followers:
            audience = self.audience(follower.actor)
            if audience is not None:
                found.setdefault(audience, set()).add(follower.topics.get(self.named.text, UNKNOWN))
        return found


class Hub:
    """Looks at the database for all sockets of this process, at most ten times and at least twice a second."""

    def __init__(self) -> None:
        self.followers: set[Follower] = set()
        self.topics: dict[str, Followed] = {}
        self.now_ms = 0
        self._threads = ThreadPoolExecutor(3, thread_name_prefix="realtime")
        self._due = asyncio.Event()
        self._hints = Hints(self._due.set)
        self._failing = False
        self._looks = 0
        self._tasks = [asyncio.create_task(work) for work in (self._run(), self._hints.listen(), self._hints.keep_groups())]

    async def admit(self, session_key: str) -> tuple[UUID, Standing] | None:
        """Whose session this is, or None. Raises TimeoutError or the database's error."""
        loop = asyncio.get_running_loop()
        async with asyncio.timeout(LOOK_DEADLINE_S):
            return await loop.run_in_executor(self._threads, admit, session_key)

    def join(self, follower: Follower) -> None:
        """A socket was opened."""
        self.followers.add(follower)
        self._tell_hints()
        self._due.set()

    def leave(self, follower: Follower) -> None:
        """A socket is gone, and with it all it followed."""
        self.followers.discard(follower)
        for text in list(follower.topics):
            self.unfollow(follower, text)
        self._tell_hints()

    def follow(self, follower: Follower, named: Named, position: int) -> None:
        """From the next look on, deliver what the topic shows beyond `position`."""
        follower.topics[named.text] = position
        self.topics.setdefault(named.text, Followed(named)).followers.add(follower)
        self._tell_hints()
        self._due.set()

    def unfollow(self, follower: Follower, text: str) -> None:
        """Deliver no more of this topic."""
        follower.topics.pop(text, None)
        followed = self.topics.get(text)
        if followed is None:
            return
        followed.followers.discard(follower)
        if not followed.followers:
            del self.topics[text]
            self._tell_hints()

    def _tell_hints(self) -> None:
        people = {person_stream(follower.person_id) for follower in self.followers}  # where an end of rights is told
        self._hints.follow(people | {followed.named.source for followed in self.topics.values()})

    async def _run(self) -> None:
        """Look for ever. Where a look fails pages see by missing ticks that nothing is known, and it is tried again."""
        ticked = 0.0
        while True:
            began = clock.monotonic()
            try:
                if self.followers and await self._look():
                    tick = began - ticked >= TICK_EVERY_S - LOOK_AT_MOST_EVERY_S
                    ticked = began if tick else ticked
                    self._stir(tick=tick)
            except Exception:  # noqa: BLE001 - the watch over open sockets goes on, whatever one look met
                _log.exception("a look at the journal failed")
            await asyncio.sleep(max(0.0, LOOK_AT_MOST_EVERY_S - (clock.monotonic() - began)))
            await self._until_due(LOOK_EVERY_S - (clock.monotonic() - began))

    def _stir(self, *, tick: bool) -> None:
        if tick:
            self.now_ms = int(clock.now().timestamp() * 1000)
        for follower in list(self.followers):
            follower.stir(tick=tick)

    async def _until_due(self, seconds: float) -> None:
        try:
            async with asyncio.timeout(max(0.0, seconds)):
                await self._due.wait()
        except TimeoutError:
            pass
        self._due.clear()

    async def _look(self) -> bool:
        question = Question(
            [Wanted(one.named, one.head, frozenset(one.html), one.positions()) for one in self.topics.values()],
            {follower.session_key: follower.person_id for follower in self.followers},
        )
        asked = set(self.followers)
        try:
            async with asyncio.timeout(LOOK_DEADLINE_S):
                answer = await asyncio.get_running_loop().run_in_executor(self._threads, look, question)
        except (TimeoutError, DatabaseError, OSError) as error:
            if not self._failing:
                _log.warning("the journal cannot be read, pages grow stale: %s", type(error).__name__)
            self._failing = True
            return False
        self._failing = False
        self._apply(answer, asked)
        return True

    def _apply(self, answer: Answer, asked: set[Follower]) -> None:
        """Take standings and elements in one step, so that nobody is sent what was rendered after their rights ended."""
        self._looks += 1
        for follower in asked & self.followers:
            standing = answer.standings.get(follower.session_key)
            if standing is None or standing.person_id != follower.person_id:
                follower.end(Close.SIGNED_OUT)
                continue
            follower.checked = self._looks
            follower.actor = replace(follower.actor, roles=standing.roles)
            self._authorise_again(follower)
        for text, head in answer.heads.items():
            followed = self.topics.get(text)
            if followed is None:
                continue
            fresh = {audience: html for (name, audience), html in answer.rendered.items() if name == text}
            if head != followed.head:
                followed.html, followed.frames = {}, {}
            if fresh or head != followed.head:
                followed.made = self._looks
            followed.html |= fresh
            followed.head = head

    def _authorise_again(self, follower: Follower) -> None:
        for text in list(follower.topics):
            followed = self.topics.get(text)
            if followed is not None and refusal_of(follower.actor, followed.named) is not None:
                follower.end(Close.NOT_ALLOWED)
                return


_hubs: dict[asyncio.AbstractEventLoop, Hub] = {}


def hub() -> Hub:
    """The hub of this process, made at the first socket."""
    loop = asyncio.get_running_loop()
    if loop not in _hubs:
        _hubs.clear()
        _hubs[loop] = Hub()
    return _hubs[loop]
