"""How the API learns who is asking: a browser session with its CSRF token, or a bearer token."""

from typing import Any

from rest_framework.authentication import BaseAuthentication, SessionAuthentication


class BrowserSession(SessionAuthentication):
    """The browser's session; unsafe methods need the CSRF token."""

    def authenticate_header(self, request: Any) -> str:
        """Named so that a missing sign-in answers 401, not 403."""
        return 'Bearer realm="pilothouse"'


class BearerToken(BaseAuthentication):
    """Placeholder until tokens land in the next commit: refuses nothing and admits nobody."""

    def authenticate(self, request: Any) -> None:
        """No token is known yet."""
