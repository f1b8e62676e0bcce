"""Tasks: declared, typed, done by the console's own part; whatever else is on the broker is refused."""

from datetime import timedelta
from typing import Annotated

import msgspec
import pytest

from apps.journal.models import IdempotencyKey
from apps.journal.services import operation
from apps.kernel import clock, tasks
from apps.kernel.errors import Invalid, NotAllowed, Refusal
from apps.kernel.permissions import can, verb_named
from apps.kernel.types import Actor, ActorKind, Role, system_actor
from console.celery import app


@pytest.fixture
def every_task():
    app.loader.import_default_modules()
    return {name: task for name, task in app.tasks.items() if not name.startswith("celery.")}


def test_every_task_is_declared_with_limits(every_task):
    assert set(every_task) == set(tasks.declared()) != set()
    for name, task in every_task.items():
        verb_named(tasks.declared()[name].verb)
        assert 0 < task.soft_time_limit < task.time_limit <= 600, name
        assert task.ignore_result and task.queue == "console", name


def test_the_schedule_names_tasks_that_exist(every_task):
    for entry in app.conf.beat_schedule.values():
        declared = tasks.declared()[entry["task"]]
        msgspec.convert(entry.get("kwargs", {}), declared.arguments)
        assert not entry.get("args") and entry["options"]["expires"] > 0


@pytest.mark.django_db
def test_forgets_old_keys(every_task):
    for key in ("old", "young"):
        with operation(system_actor("test"), "test.count", key=key, request=None) as unit:
            unit.done({})
    IdempotencyKey.objects.filter(key="old").update(created_at=clock.now() - timedelta(days=31))
    every_task["journal.forget_old_keys"].apply(throw=True)
    assert list(IdempotencyKey.objects.values_list("key", flat=True)) == ["young"]


@pytest.mark.parametrize(("args", "kwargs"), [((1,), {}), ((), {"most": 1}), ((), {"_actor": "me"}), (({},), {})])
def test_refuses_a_message_with_other_arguments(every_task, args, kwargs):
    with pytest.raises(Invalid):
        every_task["journal.forget_old_keys"].apply(args=args, kwargs=kwargs, throw=True)


@pytest.fixture
def declaring(monkeypatch):
    """Declare tasks that vanish with the test."""
    monkeypatch.setattr(tasks, "_DECLARED", {})
    monkeypatch.setattr(tasks, "shared_task", lambda **_: lambda run: run)
    return tasks.console_task


def test_reads_arguments_by_type(declaring):
    heard = []

    @declaring("journal.forget_old_keys")
    def measure(actor, *, count: Annotated[int, msgspec.Meta(ge=1, le=9)], names: tuple[str, ...] = ("a",)) -> None:
        heard.append((actor.name, count, names))

    measure(count=3)
    measure(count=9, names=["b"])
    name = next(iter(tasks.declared()))
    assert heard == [(name, 3, ("a",)), (name, 9, ("b",))]
    for wrong in ({}, {"count": "3"}, {"count": 0}, {"count": 10**30}, {"count": 3, "names": "b"}, {"count": 3, "more": 1}):
        with pytest.raises(Invalid):
            measure(**wrong)
    assert len(heard) == 2


def test_an_argument_without_a_type_is_refused_when_declared(declaring):
    with pytest.raises(TypeError):

        @declaring("journal.forget_old_keys")
        def untyped(actor, *, count) -> None: ...

    with pytest.raises(TypeError):

        @declaring("journal.forget_old_keys")
        def positional(actor, count: int) -> None: ...


def test_a_verb_for_people_is_none_for_tasks(declaring):
    @declaring("accounts.manage_people")
    def overreach(actor) -> None: ...

    with pytest.raises(Refusal):
        overreach()


def test_nobody_but_the_console_may_do_its_housekeeping(site):
    everything = Actor(ActorKind.PERSON, site.id, "Everybody", roles={site.id: frozenset(Role)}, proved_at=clock.now())
    assert isinstance(can(everything, "journal.forget_old_keys", site).refusal, NotAllowed)
    assert can(system_actor("test"), "journal.forget_old_keys")
