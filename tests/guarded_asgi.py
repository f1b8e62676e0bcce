"""The web process and the gateway as tests run them: a guard may be off, and their insides can be looked at.

`PILOTHOUSE_TEST_GUARD_OFF` names the guard, `PILOTHOUSE_TEST_CLOCK_S` says by how much this process's clock is wrong. Only
tests start this module; the product reads no such variable.
"""

import asyncio
import json
import os
from datetime import timedelta

import django

django.setup()

if name := os.environ.get("PILOTHOUSE_TEST_GUARD_OFF"):
    from tests.guards import switch_off

    switch_off(name)

if seconds := float(os.environ.get("PILOTHOUSE_TEST_CLOCK_S", "0")):
    from apps.kernel import clock

    true = clock.now
    clock.now = lambda: true() + timedelta(seconds=seconds)

from apps.ingest.gateway import control, running  # noqa: E402
from apps.realtime import middleware  # noqa: E402
from apps.realtime.consumers import hub, socket  # noqa: E402
from console.asgi import application as _web  # noqa: E402
from console.gateway import application as _gateway  # noqa: E402


def _insides():
    hubs, gateways = list(hub._hubs.values()), list(running._gateways.values())
    return {
        "tasks": len(asyncio.all_tasks()),
        "followers": sum(len(one.followers) for one in hubs),
        "topics": sum(len(one.topics) for one in hubs),
        "groups": sum(len(one._hints._wanted) for one in hubs),
        "addresses": len(middleware.PER_ADDRESS),
        "people": len(socket.PER_PERSON),
        "bridges": sum(len(one.bridges.connections) for one in gateways),
        "viewers": sum(len(one.viewers.all) for one in gateways),
        "operators": len(control.PER_PERSON),
        "watchers": sum(len(subject.watchers) for one in gateways for subject in one.live.subjects.values()),
        "late": sum(subject.late for one in gateways for subject in one.live.subjects.values()),
        "bad": sum(subject.bad for one in gateways for subject in one.live.subjects.values()),
        "rows": sum(subject.rows for one in gateways for subject in one.live.subjects.values()),
    }


def _watched(inner):
    async def application(scope, receive, send):
        if scope["type"] == "http" and scope["path"] == "/-/insides":
            await send({"type": "http.response.start", "status": 200, "headers": []})
            return await send({"type": "http.response.body", "body": json.dumps(_insides()).encode()})
        return await inner(scope, receive, send)

    return application


web = _watched(_web)
gateway = _watched(_gateway)
