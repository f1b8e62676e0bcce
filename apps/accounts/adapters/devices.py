"""Browsers that somebody signed in with before.

While strangers guess at an account, its owner must still get in. So a browser that signed in carries a signed mark for that
account, and its tries are counted apart from everybody else's. The mark opens nothing: the password is still needed.
"""

import secrets

from django.conf import settings
from django.core import signing
from django.http import HttpRequest, HttpResponse
from django.utils.crypto import salted_hmac

SALT = "apps.accounts.known_device"
LIFE_S = 180 * 24 * 3600
MOST = 5  # accounts one browser is remembered for


def device_of(request: HttpRequest, email: str) -> str | None:
    """The identifier of this browser where it is known for the account, else None."""
    return _marks(request).get(_mark(email))


def remember(request: HttpRequest, response: HttpResponse, email: str) -> None:
    """Mark the browser as known for the account. Its identifier stays, so that marking again refills no budget."""
    marks = _marks(request)
    mine = marks.pop(_mark(email), None) or secrets.token_urlsafe(16)
    kept = dict(list(marks.items())[-(MOST - 1) :])
    kept[_mark(email)] = mine
    response.set_cookie(
        settings.KNOWN_DEVICE_COOKIE_NAME,
        signing.dumps(kept, salt=SALT),
        max_age=LIFE_S,
        secure=settings.SESSION_COOKIE_SECURE,
        httponly=True,
        samesite="Lax",
    )


def _mark(email: str) -> str:
    """Stands for the account in the cookie without naming it."""
    return salted_hmac(SALT, email.strip().lower(), algorithm="sha256").hexdigest()[:24]


def _marks(request: HttpRequest) -> dict[str, str]:
    try:
        found = signing.loads(request.COOKIES.get(settings.KNOWN_DEVICE_COOKIE_NAME, ""), salt=SALT, max_age=LIFE_S)
    except signing.BadSignature:
        return {}
    return found if isinstance(found, dict) else {}
