"""Several machines behind our own TLS proxy. Refuses to start on anything a console on a network must not have."""

from urllib.parse import unquote, urlsplit

from django.core.exceptions import ImproperlyConfigured

from console import env
from console.settings.base import *  # noqa: F403
from console.settings.base import (
    ADMIN_NETWORKS,
    ALLOWED_HOSTS,
    DATABASE_URL,
    DEBUG,
    EMAIL_URL,
    PUBLIC_URL,
    SECRET_KEY,
    VALKEY_URL,
)
from console.settings.refusals import faults

DEPLOYMENT = "production"

_faults = faults(
    debug=DEBUG,
    secret_key=SECRET_KEY,
    hosts=env.read("HOSTS"),
    public_url=PUBLIC_URL,
    database_url=DATABASE_URL,
    valkey_url=VALKEY_URL,
    admin_networks=ADMIN_NETWORKS,
)
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
    # smtps:// is TLS from the first byte; smtp:// must switch to it, save on this machine. A downgrade is refused either way.
    _mail = urlsplit(EMAIL_URL)
    EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    EMAIL_HOST = _mail.hostname or ""
    EMAIL_PORT = _mail.port or (465 if _mail.scheme == "smtps" else 587)
    EMAIL_HOST_USER = unquote(_mail.username or "")
    EMAIL_HOST_PASSWORD = unquote(_mail.password or "")
    EMAIL_USE_SSL = _mail.scheme == "smtps"
    EMAIL_USE_TLS = _mail.scheme == "smtp" and EMAIL_HOST not in {"localhost", "127.0.0.1", "::1"}
