"""Attack 8: the database's sessions end while people's programs write; what was acknowledged is there, once."""

import asyncio
import json
import time
import urllib.error
import urllib.request
from collections import Counter
from uuid import uuid4

import pytest

from apps.fleet.models import Robot
from apps.journal.models import Event
from apps.kernel.types import Role
from tests.factories import accounts
from tests.integration.ingest.wire import Wire
from tests.served import gateway, migrated, web, world

__all__ = ["gateway", "migrated", "web", "world"]
WRITERS, WRITES = 4, 12  # of each, before it goes, while it is away and after


@pytest.fixture
def wire(world):
    """The way from the web process to its database."""
    made = Wire(world.url)
    yield made
    made.stop()


class Writer:
    """Registers robots one by one, each again with its key until it is told that it was done."""

    def __init__(self, web, site, token):
        self.path, self.token = f"{web.address}/api/v1/sites/{site.slug}/robots/", token
        self.done, self.answers, self.wrong = [], Counter(), []

    def post(self, name, key):
        """The status of one try."""
        body = json.dumps({"name": name, "kind": "arm", "is_simulated": True}).encode()
        headers = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json", "Idempotency-Key": key}
        try:
            with urllib.request.urlopen(urllib.request.Request(self.path, body, headers, method="POST"), timeout=30) as answer:
                status = answer.status
        except urllib.error.HTTPError as error:
            status = error.code
            if status != 503 or int(error.headers.get("Retry-After", "0")) < 1:
                self.wrong.append((status, error.read()[:200]))
        self.answers[status] += 1
        return status

    def write(self, until):
        """Until somebody says that it is enough."""
        while not until():
            name, key = f"arm-{uuid4().hex[:8]}", str(uuid4())
            while self.post(name, key) != 201:
                time.sleep(0.2)
            self.done.append(name)


def _there(names):
    facts = Event.objects.filter(type="fleet.robot_registered", payload__name__in=names)
    return Robot.objects.filter(name__in=names).count(), facts.count()


async def test_no_acknowledged_write_is_lost_and_others_are_told_to_come_back(world, wire):
    from apps.accounts.services import create_token

    web = world.serve("web", PILOTHOUSE_DATABASE_URL=wire.url)
    site = await world.site()
    person, _ = await world.person(site, Role.ADMIN)
    actor = await world.do(accounts.actor_of, person)
    given = {"person_id": person.id, "site_id": site.id, "role": Role.ADMIN, "name": "writers"}
    token = (await world.do(create_token, actor=actor, **given)).text
    writers, ends = [Writer(web, site, token) for _ in range(WRITERS)], asyncio.Event()

    def done():
        return sum(len(one.done) for one in writers)

    async def until(met, within):
        async with asyncio.timeout(within):
            while not met():
                await asyncio.sleep(0.05)

    writing = [asyncio.create_task(asyncio.to_thread(one.write, ends.is_set)) for one in writers]
    try:
        await until(lambda: done() >= WRITES, 30)
        for _ in range(2):
            refused = sum(one.answers[503] for one in writers)
            wire.cut()
            await until(lambda: sum(one.answers[503] for one in writers) >= refused + WRITERS, 30)  # noqa: B023
            before = done()
            wire.mend()
            await until(lambda: done() >= before + WRITES, 30)  # noqa: B023
    finally:
        ends.set()
        wire.mend()
        await asyncio.gather(*writing)
    names = [name for one in writers for name in one.done]
    assert [wrong for one in writers for wrong in one.wrong] == []
    assert await world.do(_there, names) == (len(names), len(names))
