"""The test run: real PostgreSQL and Valkey started by tests/conftest.py, cheap password hashing, manifest storage off."""

from console.settings.base import *  # noqa: F403
from console.settings.base import DATABASES, STORAGES

DEPLOYMENT = "test"
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
STORAGES = {**STORAGES, "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}}
EMAIL_BACKEND = "django.core.mail.backends.locmem.EmailBackend"
# Without a pool: the test runner drops and makes databases, which open pools would hold.
DATABASES["default"]["OPTIONS"].pop("pool")  # type: ignore[attr-defined]
WHITENOISE_USE_FINDERS = True
