"""Several machines behind our own TLS proxy. Refuses to start on anything a console on a network must not have."""

from urllib.parse import urlsplit

from django.core.exceptions import ImproperlyConfigured

from console import env
from console.settings.base import *  # noqa: F403
from console.settings.base import ALLOWED_HOSTS, DATABASE_URL, EMAIL_URL, SECRET_KEY, SECURE, VALKEY_URL

DEPLOYMENT = "production"

_faults = [
    reason
    for wrong, reason in (
        (len(SECRET_KEY) < 50 or len(set(SECRET_KEY)) < 10, "PILOTHOUSE_SECRET_KEY: give at least 50 random characters"),
        (SECRET_KEY.startswith(("django-insecure", "change")), "PILOTHOUSE_SECRET_KEY: this is a default, make your own"),
        (not env.read("HOSTS"), "PILOTHOUSE_HOSTS: name the hosts this console answers to"),
        ("*" in ALLOWED_HOSTS, "PILOTHOUSE_HOSTS: * would answer to any host"),
        (not SECURE, "PILOTHOUSE_PUBLIC_URL: must start with https://"),
        (not DATABASE_URL, "PILOTHOUSE_DATABASE_URL: missing"),
        (not VALKEY_URL, "PILOTHOUSE_VALKEY_URL: missing"),
    )
    if wrong
]
if _faults:
    raise ImproperlyConfigured("; ".join(_faults))

ALLOWED_HOSTS = [*ALLOWED_HOSTS, "localhost"]  # health checks inside the container; links are built from PUBLIC_URL
SECURE_SSL_REDIRECT = True
SECURE_REDIRECT_EXEMPT = [r"^healthz$", r"^readyz$", r"^metrics$"]
SECURE_HSTS_SECONDS = 365 * 24 * 3600
SECURE_HSTS_INCLUDE_SUBDOMAINS = True
SECURE_HSTS_PRELOAD = True
SESSION_COOKIE_NAME = "__Host-pilothouse_session"
CSRF_COOKIE_NAME = "__Host-pilothouse_csrf"
KNOWN_DEVICE_COOKIE_NAME = "__Host-pilothouse_device"
if EMAIL_URL:
    _mail = urlsplit(EMAIL_URL)
    EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    EMAIL_HOST = _mail.hostname or ""
    EMAIL_PORT = _mail.port or 25
    EMAIL_HOST_USER = _mail.username or ""
    EMAIL_HOST_PASSWORD = _mail.password or ""
    EMAIL_USE_TLS = _mail.scheme == "smtps"
