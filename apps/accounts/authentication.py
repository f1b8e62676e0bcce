"""How the API learns who is asking: a browser session with its CSRF token, or a bearer token."""

from typing import Any
from urllib.parse import unquote

from rest_framework.authentication import BaseAuthentication, SessionAuthentication

from apps.accounts import selectors, services
from apps.accounts.types import VerifiedToken, looks_secret
from apps.kernel.errors import NotSignedIn
from apps.kernel.types import Actor


class BrowserSession(SessionAuthentication):
    """The browser's session; unsafe methods need the CSRF token."""

    def enforce_csrf(self, request: Any) -> None:
        """Look for the token in the plain request: the API's own would parse the body first, and answer 415."""
        super().enforce_csrf(getattr(request, "_request", request))

    def authenticate_header(self, request: Any) -> str:
        """Named so that a missing sign-in answers 401, not 403."""
        return 'Bearer realm="pilothouse"'


class BearerToken(BaseAuthentication):
    """A personal token in the Authorization header, never in an address: addresses end up in logs and histories."""

    def authenticate(self, request: Any) -> tuple[Actor, VerifiedToken] | None:
        """The actor and the token; None without the header. Raises NotSignedIn for any token that does not hold."""
        if looks_secret(unquote(request.META.get("QUERY_STRING", ""))) or looks_secret(request.path):
            message = "A token does not belong in an address. Revoke it, it is in logs now; send a new one in the header."
            raise NotSignedIn(message, code="token_in_url")
        header = request.META.get("HTTP_AUTHORIZATION", "")
        if not header:
            return None
        scheme, _, text = header.partition(" ")
        if scheme.lower() != "bearer":
            raise NotSignedIn("Send the token as: Authorization: Bearer <token>.", code="token_malformed")
        found = selectors.verify_token(text.strip())
        services.note_token_use(found)
        request._request.actor = found.actor
        return found.actor, found

    def authenticate_header(self, request: Any) -> str:
        """What a 401 asks for."""
        return 'Bearer realm="pilothouse"'
