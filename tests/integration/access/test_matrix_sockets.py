"""Attack 28: topics, messages, sockets and tasks against the same table."""

from typing import get_args

import pytest

from apps.accounts import selectors
from apps.ingest.gateway.application import SOCKETS
from apps.ingest.types import FromPage as FromOperator
from apps.kernel import clock, tasks
from apps.kernel.errors import NotSignedIn
from apps.kernel.permissions import can
from apps.kernel.types import ANONYMOUS, Actor, system_actor
from apps.realtime import topics
from apps.realtime.permissions import refusal_of
from apps.realtime.topics import Named, Whose
from apps.realtime.types import FromPage, RefusalCode
from console.celery import app
from tests.integration.access.table import ROLES, TABLE, Rule, rule
from tests.integration.access.world import Member, World
from workers.protocol import FromBridge

TOPICS: dict[str, str] = TABLE["topic"]
TASKS: dict[str, str] = TABLE["task"]


def actor_of(member: Member) -> Actor:
    """The actor an edge would make of this member of the cast now."""
    words = member.headers.get("Authorization", "").removeprefix("Bearer ")
    try:
        if words.startswith("phm_"):
            return selectors.verify_machine(words).actor
        if words:
            return selectors.verify_token(words).actor
    except NotSignedIn:
        return ANONYMOUS
    if member.person is None:
        return ANONYMOUS
    member.person.refresh_from_db()
    return selectors.actor_of_person(
        member.person, proved_at=clock.now() if member.caller.fresh else None, second_factor=member.caller.staff
    )


def test_topics_of_the_table_are_the_topics_of_the_console() -> None:
    assert {topic.name for topic in topics.registered()} == set(TOPICS)


@pytest.mark.django_db
@pytest.mark.parametrize("name", TOPICS)
def test_a_topic_is_followed_by_exactly_whom_the_table_names(world: World, name: str) -> None:
    topic = next(topic for topic in topics.registered() if topic.name == name)
    one, wrong = rule(TOPICS[name]), []
    for side, place in (("here", world.here), ("there", world.there)):
        for member in world.cast.values():
            subject = place.site.id
            if topic.whose is Whose.PERSON:
                subject = member.person.pk if side == "here" and member.person else place.person.pk
            found = refusal_of(actor_of(member), Named(topic, subject))
            wanted = _wanted(one, member, side)
            if found != wanted:
                wrong.append(f"{name} as {member.caller.name} ({side}): {found}, expected {wanted}")
    assert not wrong, "\n".join(wrong)


def _wanted(one: Rule, member: Member, side: str) -> RefusalCode | None:
    caller = member.caller
    if caller.kind == "nobody" and caller.name != "machine":
        return RefusalCode.UNKNOWN
    if "own" in one.who:
        if side == "there" or caller.name == "machine":
            return RefusalCode.UNKNOWN
        return None if caller.kind == "person" else RefusalCode.NOT_ALLOWED
    roles = caller.roles if side == "here" else ROLES if caller.name == "outsider" else frozenset()
    if not roles:
        return RefusalCode.UNKNOWN
    return None if roles & one.who else RefusalCode.NOT_ALLOWED


def test_messages_of_the_table_are_the_messages_of_the_sockets() -> None:
    assert {message.__struct_config__.tag for message in get_args(FromPage)} == set(TABLE["page_message"])
    assert {message.__struct_config__.tag for message in get_args(FromBridge)} == set(TABLE["bridge_message"])
    assert {message.__struct_config__.tag for message in get_args(FromOperator)} == set(TABLE["control_message"])
    assert set(SOCKETS) == set(TABLE["gateway_socket"])


def test_tasks_of_the_table_are_the_tasks_of_the_worker() -> None:
    app.loader.import_default_modules()
    ours = {name for name in app.tasks if not name.startswith("celery.")}
    assert ours == set(TASKS)
    assert ours == set(tasks.declared()), "a task was made without saying what it does"


@pytest.mark.django_db
@pytest.mark.parametrize("name", TASKS)
def test_a_task_is_the_console_s_own(world: World, name: str) -> None:
    app.loader.import_default_modules()
    verb = tasks.declared()[name].verb
    assert TASKS[name] == "console"
    assert can(system_actor(name), verb)
    others = [member.caller.name for member in world.cast.values() if can(actor_of(member), verb)]
    assert others == []
