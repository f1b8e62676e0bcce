"""Probes of the gateway."""

import json
import urllib.error
import urllib.request

import pytest


def _get(url, method="GET"):
    try:
        with urllib.request.urlopen(urllib.request.Request(url, method=method), timeout=5) as response:
            return response.status, json.loads(response.read() or b"{}")
    except urllib.error.HTTPError as error:
        return error.code, json.loads(error.read() or b"{}")


def test_alive_and_ready(gateway):
    assert _get(f"{gateway.address}/healthz") == (200, {"status": "ok"})
    assert _get(f"{gateway.address}/readyz") == (200, {"status": "ok", "checks": {"database": "ok"}})


@pytest.mark.parametrize(("path", "method", "status"), [("/other", "GET", 404), ("/healthz", "POST", 405)])
def test_nothing_else_is_served(gateway, path, method, status):
    assert _get(gateway.address + path, method)[0] == status


def test_alive_but_not_ready_without_a_database(world):
    gone = world.serve("gateway", PILOTHOUSE_DATABASE_URL="postgresql://nobody:x@127.0.0.1:9/none")
    assert _get(f"{gone.address}/healthz")[0] == 200
    status, body = _get(f"{gone.address}/readyz")
    assert (status, body["status"]) == (503, "unavailable")
