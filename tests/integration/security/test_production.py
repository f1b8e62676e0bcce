"""Attacks 37 and 38 for a console on a network: what it refuses to start with, and what its cookies are called."""

import json
import os
import subprocess
import sys

import pytest
from django.core.checks import run_checks

from console.env import ROOT
from console.settings import refusals

SOUND = {
    "SECRET_KEY": "abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ",
    "HOSTS": "console.example",
    "PUBLIC_URL": "https://console.example",
    "GATEWAY_URL": "wss://console.example",
    "DATABASE_URL": "postgresql://a:b@127.0.0.1:9/x",
    "VALKEY_URL": "redis://127.0.0.1:9",
    "ADMIN_NETWORKS": "10.0.0.0/8",
}
COOKIES = """
import json
from django.conf import settings
wanted = ("COOKIE", "SECURE_", "ALLOWED_HOSTS")
names = [name for name in dir(settings) if name.isupper() and any(word in name for word in wanted)]
print(json.dumps({name: getattr(settings, name) for name in names}, default=str))
"""


def _run(command: list[str], tmp_path, **changed: str) -> subprocess.CompletedProcess[str]:
    given = {f"PILOTHOUSE_{name}": value for name, value in {**SOUND, **changed, "DATA": str(tmp_path)}.items()}
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PILOTHOUSE_")}
    return subprocess.run(
        [sys.executable, "-W", "ignore", *command],
        env={**kept, **given, "DJANGO_SETTINGS_MODULE": "console.settings.production"},
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_the_deployment_check_finds_nothing(tmp_path):
    """The deployment check is clean under production settings, and so are our own checks."""
    done = _run(["manage.py", "check", "--deploy", "--fail-level", "WARNING"], tmp_path)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("changed", "named"),
    [
        ({"SECRET_KEY": ""}, "SECRET_KEY"),
        ({"SECRET_KEY": "django-insecure-" + SOUND["SECRET_KEY"]}, "SECRET_KEY"),
        ({"HOSTS": ""}, "HOSTS"),
        ({"ADMIN_NETWORKS": "0.0.0.0/0"}, "ADMIN_NETWORKS"),
    ],
)
def test_a_refusal_is_one_clear_line(tmp_path, changed, named):
    """Refused with the variable's name, in one line, without the value of a secret."""
    done = _run(["manage.py", "check"], tmp_path, **changed)
    assert done.returncode != 0
    lines = done.stderr.strip().splitlines()
    assert len(lines) == 1, done.stderr
    assert f"PILOTHOUSE_{named}" in lines[0]
    assert SOUND["SECRET_KEY"] not in done.stderr


def _faults(**changed):
    sound = {
        "debug": False,
        "secret_key": SOUND["SECRET_KEY"],
        "hosts": ["console.example"],
        "public_url": SOUND["PUBLIC_URL"],
        "database_url": SOUND["DATABASE_URL"],
        "valkey_url": SOUND["VALKEY_URL"],
        "admin_networks": ["10.0.0.0/8", "::1/128"],
    }
    return refusals.faults(**{**sound, **changed})


@pytest.mark.parametrize(
    "changed",
    [
        {"debug": True},
        {"secret_key": "short"},
        {"secret_key": "a" * 60},
        {"secret_key": "Change-me-" + SOUND["SECRET_KEY"]},
        {"hosts": []},
        {"hosts": ["*", "console.example"]},
        {"hosts": [".console.example", "console.example"]},
        {"hosts": ["other.example"]},
        {"public_url": "http://console.example"},
        {"public_url": "https://"},
        {"database_url": ""},
        {"valkey_url": ""},
        {"admin_networks": ["anywhere"]},
        {"admin_networks": ["::/0"]},
    ],
)
def test_what_is_refused(changed):
    assert not _faults()
    assert len(_faults(**changed)) == 1


def test_cookies_of_a_console_on_a_network(tmp_path):
    """Attack 37: Secure, HttpOnly, SameSite, and a name that browsers tie to this host."""
    done = _run(["-c", COOKIES], tmp_path)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    for name in ("SESSION_COOKIE", "CSRF_COOKIE"):
        assert found[f"{name}_SECURE"] is True
        assert found[f"{name}_HTTPONLY"] is True
        assert found[f"{name}_SAMESITE"] == "Lax"
        assert found[f"{name}_DOMAIN"] is None
        assert found[f"{name}_PATH"] == "/"
        assert found[f"{name}_NAME"].startswith("__Host-")
    assert found["KNOWN_DEVICE_COOKIE_NAME"].startswith("__Host-")
    assert found["SECURE_SSL_REDIRECT"] is True
    assert found["SECURE_HSTS_SECONDS"] >= 31536000
    assert found["SECURE_PROXY_SSL_HEADER"] is None
    assert "*" not in found["ALLOWED_HOSTS"]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("ACCOUNT_RATE_LIMITS", {}),
        ("MFA_ADAPTER", "allauth.mfa.adapter.DefaultMFAAdapter"),
        ("MFA_FORMS", {}),
        ("USE_X_FORWARDED_HOST", True),
        ("SECURE_PROXY_SSL_HEADER", ("HTTP_X_FORWARDED_PROTO", "https")),
        ("ADMIN_NETWORKS", ["somewhere"]),
        ("PUBLIC_URL", "https://console.example/under"),
    ],
)
def test_a_setting_that_undoes_a_protection_is_found(settings, name, value):
    ours = [found for found in run_checks() if found.id.startswith("accounts.")]
    assert not ours
    setattr(settings, name, value)
    assert [found for found in run_checks() if found.id.startswith("accounts.")]
