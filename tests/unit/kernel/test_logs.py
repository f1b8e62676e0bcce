"""Secrets that stand in addresses do not stand in logs."""

import json
import logging
import sys

import pytest

from apps.kernel.logs import json_formatter

SECRET = "0123456789abcdef" * 3
KEY = "d3adb3-0123456789abcdef0123456789abcdef"


def line(message, *arguments, **extra):
    return json_formatter().format(logging.LogRecord("django.request", logging.ERROR, "", 0, message, arguments, None, **extra))


@pytest.mark.parametrize("kind", ["phi", "pht", "phm"])
def test_a_credential_in_an_address_is_masked(kind):
    said = line("%s: %s", "Service Unavailable", f"/invitation/{kind}_0123456789ab_{SECRET}/")
    assert SECRET not in said
    assert json.loads(said)["event"] == f"Service Unavailable: /invitation/{kind}_0123456789ab_(masked)/"


def test_a_reset_link_is_masked():
    said = line("%s: %s", "Service Unavailable", f"/account/password/reset/key/Uid36-{KEY}/")
    assert KEY not in said
    assert json.loads(said)["event"].endswith("/account/password/reset/key/(masked)/")


def test_a_trace_is_masked():
    try:
        raise ValueError(f"pht_0123456789ab_{SECRET}")
    except ValueError:
        record = logging.LogRecord("any", logging.ERROR, "", 0, "failed", (), sys.exc_info())
    said = json_formatter().format(record)
    assert "ValueError" in said
    assert SECRET not in said


def test_what_a_terminal_or_a_page_would_obey_is_inert():
    """Attack 39: colours, a line of its own and script in a line of the log."""
    said = line("robot %s", '\x1b[2J\x1b]0;x\x07\r\n{"event": "forged"}\u202e\u2028<script>alert(1)</script>')
    assert len(said.splitlines()) == 1
    assert all(" " <= character <= "~" for character in said)
    assert "forged" in json.loads(said)["event"]
