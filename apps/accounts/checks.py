"""Settings that sign-in relies on, checked at every start: a later edit must not take one away unseen."""

import ipaddress
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.core.checks import CheckMessage, Error, Tags, register

# Setting, value it must have, why.
_FIXED: tuple[tuple[str, object, str], ...] = (
    ("ACCOUNT_RATE_LIMITS", False, "the library would count guesses in the cache, and fault when it is down"),
    ("MFA_RATE_LIMITS", False, "the library would count guesses in the cache, and fault when it is down"),
    ("MFA_TRUST_ENABLED", False, "a trusted browser would sign in without the second factor"),
    ("MFA_WEBAUTHN_ALLOW_INSECURE_ORIGIN", False, "passkeys would sign for any origin"),
    ("MFA_ADAPTER", "apps.accounts.adapters.SecondFactorAdapter", "secrets would be stored readable"),
    ("ACCOUNT_ADAPTER", "apps.accounts.adapters.AccountAdapter", "guesses would not be counted"),
    ("SESSION_ENGINE", "django.contrib.sessions.backends.db", "open sockets are checked against that table"),
    ("SESSION_COOKIE_HTTPONLY", True, "scripts could read the session"),
    ("CSRF_COOKIE_HTTPONLY", True, "scripts could read the token"),
    ("USE_X_FORWARDED_HOST", False, "a client could name the host"),
    ("USE_X_FORWARDED_PORT", False, "a client could name the port"),
    ("SECURE_PROXY_SSL_HEADER", None, "only `ForwardedHeaders` reads what proxies say"),
)
_FORMS = ("authenticate", "reauthenticate", "activate_totp", "add_webauthn", "authenticate_webauthn", "login_webauthn")


@register(Tags.security)
def sign_in_settings(**_kwargs: Any) -> list[CheckMessage]:
    """One error for each setting that would undo a protection."""
    found: list[CheckMessage] = [
        Error(f"{name} is not {wanted!r}: {why}.", id="accounts.E001")
        for name, wanted, why in _FIXED
        if getattr(settings, name, None) != wanted
    ]
    found += [
        Error(f"MFA_FORMS lacks {name}: codes or passkeys could be used twice.", id="accounts.E002")
        for name in (*_FORMS, "reauthenticate_webauthn")
        if not str(settings.MFA_FORMS.get(name, "")).startswith("apps.accounts.")
    ]
    if urlsplit(settings.PUBLIC_URL).path:
        found.append(Error("PILOTHOUSE_PUBLIC_URL has a path: passkeys are bound to an origin.", id="accounts.E003"))
    for text in settings.ADMIN_NETWORKS:
        try:
            ipaddress.ip_network(text, strict=False)
        except ValueError:
            found.append(Error(f"PILOTHOUSE_ADMIN_NETWORKS: {text!r} is no network.", id="accounts.E004"))
    return found
